/** Packed files of datastores, in plain folders: names say what they are, and their digests whether they still are it. */
import type { Database } from 'bun:sqlite'
import { createWriteStream, existsSync } from 'node:fs'
import { link, mkdir, rm, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import { AppError } from '../../../../shared/error.ts'
import { syncFolder } from '../../../platform/files/replace-file.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import type { Paths } from '../../../platform/paths.ts'
import type { Command } from '../../../platform/process/command.ts'
import type { Sealer } from '../../../platform/secrets/seal.ts'
import { type BackupObject, insertObject, isKept, removeObjectRow, updateObject } from '../rows/object-store.ts'
import { backupSetOf } from '../rows/set-store.ts'
import type { Bucket } from './bucket.ts'
import { identityOf } from './key.ts'
import { fileNameOf, setFoldersOf } from './layout.ts'
import { BackupDamaged, type Bytes, type Packed, type Source, unpackFile } from './pack.ts'
import type { Format, PackedFile, PackedOutput } from './pack-child.ts'
import { type PackKind, packIsolated, packOutputIsolated, unpackIsolated } from './pack-isolated.ts'

export interface RepositoryDeps {
  db: Database
  sealer: Sealer
  paths: Paths
  bucket: Bucket | undefined
  now(): number
}

export interface StoreOptions {
  signal?: AbortSignal
  format?: Format
  /** What is written with the row of the file, in one transaction with it. */
  onStored?(packed: Packed): void
}

const ROOTS_ALONE = 0o700
/** The user of the receiver passes through, and can list nothing. */
const PASS_THROUGH = 0o711

/** Makes the folders of a set. @throws AppError not_found for a datastore without one. */
export async function ensureSetFolders({ paths }: Pick<RepositoryDeps, 'paths'>, datastoreId: string): Promise<void> {
  const { root, work } = setFoldersOf(paths, datastoreId)
  await mkdir(root, { recursive: true, mode: PASS_THROUGH })
  await mkdir(work, { recursive: true, mode: ROOTS_ALONE })
}

/**
 * Packs a stream for the set's recipient and keeps it under the name. The same content under the same name is kept once. Nothing is left
 * of what fails. @throws the stream's error.
 */
export async function storeObject(
  deps: RepositoryDeps,
  { datastoreId, name }: Pick<BackupObject, 'datastoreId' | 'name'>,
  source: Source,
  { signal, format, onStored }: StoreOptions = {},
): Promise<Packed> {
  return await withFreshFiles(deps, datastoreId, async ({ recipient, next }) => {
    const fresh = next()
    const packed = await packIsolated(source, fresh, {
      recipient,
      kind: kindOf(name),
      ...(format && { format }),
      ...(signal && { signal }),
    })
    await keep(deps, { datastoreId, name }, { fresh, packed, ...(onStored && { onStored }) })
    return packed
  })
}

export interface WantedArchive {
  datastoreId: string
  name: string
  command: Command
  /** The file of the archive that is kept as an object of its own, too. */
  entry: { name: string; as: string }
}

/** Keeps the archive that a program writes, and one of its files. Nothing is left of what fails. @throws AppError unavailable in the program's words. */
export async function storeArchive(deps: RepositoryDeps, wanted: WantedArchive, signal: AbortSignal): Promise<PackedOutput> {
  const { datastoreId, name, command, entry } = wanted
  return await withFreshFiles(deps, datastoreId, async ({ recipient, next }) => {
    const [archivePath, entryPath] = [next(), next()]
    const task = { recipient, command, archivePath, entry: { name: entry.name, path: entryPath } }
    const packed = await packOutputIsolated(task, signal)
    await keep(deps, { datastoreId, name }, { fresh: archivePath, packed: packed.archive })
    await keep(deps, { datastoreId, name: entry.as }, { fresh: entryPath, packed: packed.entry })
    return packed
  })
}

interface FreshFiles {
  recipient: string
  next(): string
}

async function withFreshFiles<T>(deps: RepositoryDeps, datastoreId: string, use: (fresh: FreshFiles) => Promise<T>): Promise<T> {
  const { recipient } = requireSet(deps.db, datastoreId)
  const { work } = setFoldersOf(deps.paths, datastoreId)
  await ensureSetFolders(deps, datastoreId)
  const made: string[] = []
  const next = () => {
    const path = join(work, crypto.randomUUID())
    made.push(path)
    return path
  }
  try {
    return await use({ recipient, next })
  } finally {
    for (const path of made) await rm(path, { force: true })
  }
}

interface Kept extends Pick<StoreOptions, 'onStored'> {
  fresh: string
  packed: Packed
}

async function keep(
  { db, paths, now }: RepositoryDeps,
  { datastoreId, name }: Pick<BackupObject, 'datastoreId' | 'name'>,
  { fresh, packed, onStored }: Kept,
): Promise<void> {
  await putInPlace(fresh, join(setFoldersOf(paths, datastoreId).root, fileNameOf({ name, digest: packed.digest })))
  db.transaction(() => {
    insertObject(db, { datastoreId, name, ...packed, createdAt: now() })
    onStored?.(packed)
  })()
}

function requireSet(db: Database, datastoreId: string) {
  const set = backupSetOf(db, datastoreId)
  if (set === undefined) throw new AppError('not_found', `There are no backups of ${datastoreId}`)
  return set
}

/** A file that is there already is as good: it went through here, whole. */
async function putInPlace(fresh: string, path: string): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: ROOTS_ALONE })
  await link(fresh, path).catch((error) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  })
  syncFolder(folder)
  syncFolder(dirname(folder))
}

export const pathOfObject = ({ paths }: Pick<RepositoryDeps, 'paths'>, object: BackupObject): string =>
  join(setFoldersOf(paths, object.datastoreId).root, fileNameOf(object))

export const keyOfObject = (object: Pick<BackupObject, 'datastoreId' | 'name' | 'digest'>): string =>
  `${object.datastoreId}/${fileNameOf(object)}`

/** The plain content of an object, from here or from the bucket. @throws BackupDamaged where it is at neither, as its stream does for what it is not; AppError unavailable while the bucket does not answer. */
export async function openObject(deps: RepositoryDeps, object: BackupObject): Promise<Readable> {
  return await unpackFile(await packedSource(deps, object), openingOf(deps, object))
}

export interface Extraction {
  object: BackupObject
  /** Absent: it is read to its end for nothing but its soundness. */
  path?: string
  format?: Format
}

/** Writes plain contents to new files, which are of one set, in a process of its own. What is at the bucket alone is fetched first. @throws as `openObject`, and BackupDamaged. */
export async function extractObjects(
  deps: RepositoryDeps,
  wanted: readonly Extraction[],
  { isAwaited } = { isAwaited: true },
): Promise<void> {
  const [first] = wanted
  if (first === undefined) return
  await ensureSetFolders(deps, first.object.datastoreId)
  const fetched: string[] = []
  try {
    const files: PackedFile[] = []
    for (const { object, path, format } of wanted) {
      const source = await packedSource(deps, object)
      const folder = path === undefined ? setFoldersOf(deps.paths, object.datastoreId).work : dirname(path)
      const from = typeof source === 'string' ? source : join(folder, basename(fileNameOf(object)))
      if (typeof source !== 'string') {
        fetched.push(from)
        await pipeline(Readable.fromWeb(source as NodeStream), createWriteStream(from, { flags: 'wx', mode: 0o600 }))
      }
      files.push({ from, digest: object.digest, ...(path !== undefined && { path }), ...(format && { format }) })
    }
    await unpackIsolated(openingOf(deps, first.object).identity, files, { isAwaited })
  } finally {
    for (const path of fetched) await rm(path, { force: true })
  }
}

const kindOf = (name: string): PackKind => (name.startsWith('wal') ? 'log' : 'backup')

const openingOf = (deps: RepositoryDeps, { datastoreId, digest }: BackupObject) => ({
  identity: identityOf(deps, requireSet(deps.db, datastoreId).recipient),
  digest,
})

async function packedSource(deps: RepositoryDeps, object: BackupObject): Promise<string | Bytes> {
  const path = pathOfObject(deps, object)
  if (existsSync(path)) return path
  if (object.uploadedAt === null) throw new BackupDamaged(`${object.name} is missing on this server`)
  if (deps.bucket === undefined)
    throw new AppError(
      'unavailable',
      `${object.name} of ${object.datastoreId} is at the bucket alone. Set CP_BACKUP_S3_ENDPOINT and what belongs to it again.`,
    )
  return await deps.bucket.get(keyOfObject(object)).catch((error) => {
    throw error instanceof AppError && error.code === 'not_found' ? new BackupDamaged(error.message, error) : error
  })
}

/** Removes an object from here at once; where there is a bucket, who looks after that removes it there, and its row last: what it does not answer to holds up nobody. */
export async function removeObject(deps: RepositoryDeps, object: BackupObject): Promise<void> {
  updateObject(deps.db, object, { isRemoving: true })
  await unlink(pathOfObject(deps, object)).catch((error) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  })
  if (deps.bucket === undefined) removeObjectRow(deps.db, object)
}

/** Removes from the bucket what is gone from here, whether it is known to be there or not: an upload may have been cut off. @throws AppError unavailable while the bucket does not answer. */
export async function removeFromBucket(deps: RepositoryDeps, object: BackupObject): Promise<void> {
  if (!isKept(deps.db, object)) await deps.bucket?.remove(keyOfObject(object))
  if (!isKept(deps.db, object)) removeObjectRow(deps.db, object)
}

/** Forgets what was being made when the process before this one ended. */
export const clearWork = ({ paths }: Pick<RepositoryDeps, 'paths'>, datastoreId: string): Promise<void> =>
  removeTree(setFoldersOf(paths, datastoreId).work)

export const removeSetFolder = ({ paths }: Pick<RepositoryDeps, 'paths'>, datastoreId: string): Promise<void> =>
  removeTree(setFoldersOf(paths, datastoreId).root)
