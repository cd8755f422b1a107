import { closeSync, type Dirent, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { AppError } from '../../shared/error.ts'

/** The little that detection reads of a source. Paths are relative to its root, with `/`. */
export interface SourceView {
  /** Whether there is a file (not a folder) of that path. */
  has(path: string): boolean
  /** The text of a file, or undefined when there is none. */
  read(path: string): string | undefined
  /** The beginning of a file that may be long, such as a lock file: as much as tells its format. */
  head(path: string): string | undefined
  /** The names of the files in `path` (not of folders), sorted; empty when there are none. */
  names(path: string): string[]
  /** The names of the folders below `path`, sorted; empty when there are none. */
  folders(path: string): string[]
}

/** Configuration files are small; whatever is larger was made to hurt. */
const MAX_READ_BYTES = 1024 * 1024
/** The lock file of a large workspace has some tens of thousands of packages, at a few hundred bytes each. */
const MAX_LOCK_BYTES = 64 * 1024 * 1024
const HEAD_BYTES = 4096

/** The view of a folder on disk. What a link points to outside of the folder is not seen. */
export function openSourceView(dir: string): SourceView {
  const root = realpathSync(dir)
  return {
    has: (path) => resolveInside(root, path)?.isFile === true,
    read: (path) => readSmall(resolveInside(root, path), path),
    head: (path) => readHead(resolveInside(root, path), path),
    names: (path) => listNames(root, path, (entry) => entry.isFile()),
    folders: (path) => listNames(root, path, (entry) => entry.isDirectory()),
  }
}

/** The view of a folder of another view; '' for all of it. */
export function viewOf(files: SourceView, folder: string): SourceView {
  const below = (path: string): string => [folder, path].filter((part) => part !== '' && part !== '.').join('/') || '.'
  return {
    has: (path) => files.has(below(path)),
    read: (path) => files.read(below(path)),
    head: (path) => files.head(below(path)),
    names: (path) => files.names(below(path)),
    folders: (path) => files.folders(below(path)),
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
  refuseLarger(file, path, MAX_READ_BYTES)
  return readFileSync(file.real, 'utf8')
}

function readHead(file: Resolved | undefined, path: string): string | undefined {
  if (file?.isFile !== true) return undefined
  refuseLarger(file, path, MAX_LOCK_BYTES)
  const descriptor = openSync(file.real, 'r')
  try {
    const bytes = Buffer.alloc(HEAD_BYTES)
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, HEAD_BYTES, 0))
  } finally {
    closeSync(descriptor)
  }
}

function refuseLarger({ sizeBytes }: Resolved, path: string, limit: number): void {
  if (sizeBytes <= limit) return
  throw new AppError('bad_request', `${path} has ${sizeBytes} bytes, and ${limit} are the most that is read: make it smaller`)
}

function listNames(root: string, path: string, isWanted: (entry: Dirent) => boolean): string[] {
  const folder = resolveInside(root, path)
  if (folder === undefined || folder.isFile) return []
  return readdirSync(folder.real, { withFileTypes: true })
    .filter(isWanted)
    .map((entry) => entry.name)
    .sort()
}
