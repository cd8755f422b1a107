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

/** What a plan is made by has some hundred kilobytes in the largest workspaces, and is read and parsed while everybody waits. */
const MAX_ALL_BYTES = 4 * MAX_READ_BYTES

/** The view of a folder on disk, each file as it is when it is first read. What a link points to outside of the folder is not seen, and nothing but files is read. */
export function openSourceView(dir: string): SourceView {
  const names = (path: string, areFolders: boolean) =>
    listBeneath(dir, path).flatMap(({ name, kind }) => (kind === (areFolders ? 'folder' : 'file') ? [name] : []))
  const texts = new Map<string, string | undefined>()
  let allBytes = 0
  function read(path: string): string | undefined {
    if (texts.has(path)) return texts.get(path)
    const text = readText(dir, path, { most: MAX_READ_BYTES, wanted: MAX_READ_BYTES })
    allBytes += Buffer.byteLength(text ?? '')
    if (allBytes > MAX_ALL_BYTES) throw tooMuch()
    texts.set(path, text)
    return text
  }
  return {
    has: (path) => statBeneath(dir, path).kind === 'file',
    read,
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

const tooMuch = (): AppError =>
  new AppError(
    'bad_request',
    `The files by which a build is planned have more than ${MAX_ALL_BYTES / 1024 / 1024} MiB together, as package.json of all members: make them smaller, or set rootDir to the folder of the app and deploy that alone`,
  )

function readText(dir: string, path: string, { most, wanted }: { most: number; wanted: number }): string | undefined {
  const found = statBeneath(dir, path)
  if (found.kind !== 'file') return undefined
  if (found.sizeBytes > most)
    throw new AppError('bad_request', `${path} has ${found.sizeBytes} bytes, and ${most} are the most that is read: make it smaller`)
  return headBeneath(dir, path, wanted)?.toString('utf8')
}
