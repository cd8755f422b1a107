/** Backups of a key-value store, each one snapshot file (RDB) of all that it held at one moment. */
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../../../shared/error.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import type { KeyValueServers, Login, ServerAddress } from '../../../platform/key-value/port.ts'
import { isRoot } from '../../../platform/service-folders.ts'
import { layObject, type Material } from '../repository/lay.ts'
import { BackupDamaged } from '../repository/pack.ts'
import { openObject, type RepositoryDeps, storeObject } from '../repository/repository.ts'
import { type BackupObject, findObject } from '../rows/object-store.ts'
import { checkedSnapshot } from './snapshot-check.ts'

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
  const content = checkedSnapshot(bounded(servers.snapshot(at, login, signal), maxBytes))
  const { plainBytes } = await storeObject(deps, { datastoreId, name: nameOf(backupId) }, content, { signal })
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
export async function verifySnapshot(deps: RepositoryDeps, which: Which, signal: AbortSignal): Promise<void> {
  const nowhere = new Writable({ write: (_chunk, _, done) => done() })
  await pipeline(checkedSnapshot(await openObject(deps, snapshotOf(deps, which))), nowhere, { signal })
}

/** Lays a decrypted snapshot in a folder of its own for whoever restores. @throws BackupDamaged naming what is wrong; not_found for what is gone. */
export async function laySnapshot(deps: RepositoryDeps, { folder, uid }: Material, which: Which): Promise<void> {
  await removeTree(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await layObject(deps, snapshotOf(deps, which), { path: join(folder, SNAPSHOT), uid }, checkedSnapshot)
  if (isRoot) await chown(folder, uid, uid)
}

function snapshotOf({ db }: Pick<RepositoryDeps, 'db'>, { datastoreId, backupId }: Which): BackupObject {
  const found = findObject(db, datastoreId, nameOf(backupId))
  if (found === undefined) throw new BackupDamaged('its snapshot is missing')
  return found
}
