import { AppError } from '../../../shared/error.ts'
import { headBeneath, listBeneath, statBeneath } from '../../platform/files/tree/beneath.ts'

export interface SourceView {
  has(path: string): boolean
  read(path: string): string | undefined
  head(path: string): string | undefined
  names(path: string): string[]
  folders(path: string): string[]
}

/** Configuration files are small; whatever is larger was made to hurt. */
const MAX_READ_BYTES = 1024 * 1024
/** The lock file of a large workspace has some tens of thousands of packages, at a few hundred bytes each. */
const MAX_LOCK_BYTES = 64 * 1024 * 1024
const HEAD_BYTES = 4096

/** The view of a folder on disk. What a link points to outside of the folder is not seen, and nothing but files is read. */
export function openSourceView(dir: string): SourceView {
  const names = (path: string, areFolders: boolean) =>
    listBeneath(dir, path).flatMap(({ name, kind }) => (kind === (areFolders ? 'folder' : 'file') ? [name] : []))
  return {
    has: (path) => statBeneath(dir, path).kind === 'file',
    read: (path) => readText(dir, path, { most: MAX_READ_BYTES, wanted: MAX_READ_BYTES }),
    head: (path) => readText(dir, path, { most: MAX_LOCK_BYTES, wanted: HEAD_BYTES }),
    names: (path) => names(path, false),
    folders: (path) => names(path, true),
  }
}

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

function readText(dir: string, path: string, { most, wanted }: { most: number; wanted: number }): string | undefined {
  const found = statBeneath(dir, path)
  if (found.kind !== 'file') return undefined
  if (found.sizeBytes > most)
    throw new AppError('bad_request', `${path} has ${found.sizeBytes} bytes, and ${most} are the most that is read: make it smaller`)
  return headBeneath(dir, path, wanted)?.toString('utf8')
}
