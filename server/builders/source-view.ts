import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { AppError } from '../../shared/error.ts'

/** The little that detection reads of a source. Paths are relative to its root, with `/`. */
export interface SourceView {
  /** Whether there is a file (not a folder) of that path. */
  has(path: string): boolean
  /** The text of a file, or undefined when there is none. */
  read(path: string): string | undefined
  /** The names of the folders below `path`, sorted; empty when there are none. */
  folders(path: string): string[]
}

/** Configuration files are small; whatever is larger was made to hurt. */
const MAX_READ_BYTES = 1024 * 1024

/** The view of a folder on disk. What a link points to outside of the folder is not seen. */
export function openSourceView(dir: string): SourceView {
  const root = realpathSync(dir)
  return {
    has: (path) => resolveInside(root, path)?.isFile === true,
    read: (path) => readSmall(resolveInside(root, path), path),
    folders: (path) => listFolders(root, path),
  }
}

interface Resolved {
  real: string
  isFile: boolean
  sizeBytes: number
}

function resolveInside(root: string, path: string): Resolved | undefined {
  try {
    const real = realpathSync(join(root, path))
    if (real !== root && !real.startsWith(root + sep)) return undefined
    const stats = statSync(real)
    return { real, isFile: stats.isFile(), sizeBytes: stats.size }
  } catch {
    return undefined
  }
}

function readSmall(file: Resolved | undefined, path: string): string | undefined {
  if (file?.isFile !== true) return undefined
  if (file.sizeBytes > MAX_READ_BYTES) throw new AppError('bad_request', `${path} is larger than ${MAX_READ_BYTES} bytes`)
  return readFileSync(file.real, 'utf8')
}

function listFolders(root: string, path: string): string[] {
  const folder = resolveInside(root, path)
  if (folder === undefined || folder.isFile) return []
  const isFolder = (entry: Dirent) => entry.isDirectory()
  return readdirSync(folder.real, { withFileTypes: true })
    .filter(isFolder)
    .map((entry) => entry.name)
    .sort()
}
