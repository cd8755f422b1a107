/** Backups of a key-value store, each one snapshot file (RDB) of all that it held at one moment. */
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import type { KeyValueServers, Login, ServerAddress } from '../../../platform/key-value/port.ts'
import { isRoot } from '../../../platform/service-folders.ts'
import type { Material } from '../repository/lay.ts'
import { BackupDamaged } from '../repository/pack.ts'
import { extractObjects, type RepositoryDeps, storeObject } from '../repository/repository.ts'
import { type BackupObject, findObject } from '../rows/object-store.ts'

export const SNAPSHOT = 'dump.rdb'

const nameOf = (backupId: string): string => `${backupId}/${SNAPSHOT}`

export interface StoreSource {
  servers: KeyValueServers
  at: ServerAddress
  login: Login
  /** More than this is nothing that a sound server would send. */
  maxBytes: number
}

interface Which {
  datastoreId: string
  backupId: string
}

/** Takes a backup of a running server into the repository. @throws AppError unavailable without its content, BackupDamaged for what is no whole snapshot. */
export async function takeSnapshot(
  deps: RepositoryDeps,
  { servers, at, login, maxBytes }: StoreSource,
  { datastoreId, backupId }: Which,
  signal: AbortSignal,
): Promise<{ plainBytes: number }> {
  const content = bounded(servers.snapshot(at, login, signal), maxBytes)
  const { plainBytes } = await storeObject(deps, { datastoreId, name: nameOf(backupId) }, content, { signal, format: 'snapshot' })
  return { plainBytes }
}

async function* bounded(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of content) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new AppError('unavailable', 'The server sends more than its memory can hold.')
    yield chunk
  }
}

/** Reads a backup to its end. @throws BackupDamaged naming what is wrong. */
export const verifySnapshot = (deps: RepositoryDeps, which: Which): Promise<void> =>
  extractObjects(deps, [{ object: snapshotOf(deps, which), format: 'snapshot' }], { isAwaited: false })

/** Lays a decrypted snapshot in a folder of its own for whoever restores. @throws BackupDamaged naming what is wrong; not_found for what is gone. */
export async function laySnapshot(deps: RepositoryDeps, { folder, uid }: Material, which: Which): Promise<void> {
  await removeTree(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, SNAPSHOT)
  await extractObjects(deps, [{ object: snapshotOf(deps, which), path, format: 'snapshot' }])
  if (isRoot) for (const laid of [path, folder]) await chown(laid, uid, uid)
}

function snapshotOf({ db }: Pick<RepositoryDeps, 'db'>, { datastoreId, backupId }: Which): BackupObject {
  const found = findObject(db, datastoreId, nameOf(backupId))
  if (found === undefined) throw new BackupDamaged('its snapshot is missing')
  return found
}
