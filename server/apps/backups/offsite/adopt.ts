/** Takes sets that another installation has put to the bucket to be recovered from here. Nothing is changed at the bucket. */
import { identityToRecipient } from 'age-encryption'
import { AppError, messageOf } from '../../../../shared/error.ts'
import { addKey } from '../repository/key.ts'
import { type Bytes, readPacked } from '../repository/pack.ts'
import { keyOfObject, type RepositoryDeps } from '../repository/repository.ts'
import { insertBackup, updateBackup } from '../rows/backup-store.ts'
import { insertObject, updateObject } from '../rows/object-store.ts'
import { isSourceOfRecovery } from '../rows/recovery-store.ts'
import { backupSetOf, ensureBackupSet, removeBackupSetRow, updateBackupSet } from '../rows/set-store.ts'
import { DESCRIPTIONS } from './describe.ts'
import { type Description, readDescription } from './description.ts'

const MAX_DESCRIPTION_BYTES = 512 * 1024 * 1024

export interface Described {
  key: string
  description?: Description
  problem?: string
}

/** What the bucket says of the sets in it. Whatever else stands there, or is not for this key, has its reason. @throws AppError unavailable while the bucket does not answer. */
export async function* describedSets({ bucket }: Pick<RepositoryDeps, 'bucket'>, identity: string): AsyncGenerator<Described> {
  if (bucket === undefined)
    throw new AppError('bad_request', 'No bucket is set. Set CP_BACKUP_S3_ENDPOINT and what belongs to it, and start cpd again.')
  for await (const key of bucket.list(DESCRIPTIONS)) yield await readAt(key, () => bucket.get(key), identity)
}

async function readAt(key: string, get: () => Promise<Bytes>, identity: string): Promise<Described> {
  const packed = await get()
  try {
    return { key, description: readDescription(await readPacked(packed, identity, MAX_DESCRIPTION_BYTES), identity) }
  } catch (error) {
    return { key, problem: messageOf(error) }
  }
}

/** The recipient of a key as `cpd backup-key` prints it, and the key. @throws AppError bad_request for what is none. */
export async function keyIn(text: string): Promise<{ identity: string; recipient: string }> {
  const identity = /^AGE-SECRET-KEY-1[0-9A-Z]+$/m.exec(text)?.[0]
  const recipient = identity === undefined ? undefined : await identityToRecipient(identity).catch(() => undefined)
  if (identity !== undefined && recipient !== undefined) return { identity, recipient }
  throw new AppError('bad_request', 'This is no key. It begins with AGE-SECRET-KEY-1, as `cpd backup-key` printed it on the other server.')
}

export interface Adopted {
  missing: number
}

/** Writes a set down as one of this workspace. Repeatable: the newest description holds. @throws AppError conflict for a set of our own, or one that is being recovered from. */
export async function adoptSet(
  deps: RepositoryDeps,
  { description, identity, workspaceId }: { description: Description; identity: string; workspaceId: string },
): Promise<Adopted> {
  const { db } = deps
  const { set, objects } = description
  const known = backupSetOf(db, set.datastoreId)
  if (known !== undefined && known.adoptedUntil === null)
    throw new AppError('conflict', `${set.datastoreId} is of this server. Recover it as it is.`)
  if (isSourceOfRecovery(db, set.datastoreId))
    throw new AppError('conflict', `${set.datastoreId} is being recovered from. Adopt it again when that is done.`)
  const there = new Set(await Array.fromAsync(deps.bucket?.list(`${set.datastoreId}/`) ?? []))
  const found = objects.filter(({ name, digest }) => there.has(keyOfObject({ datastoreId: set.datastoreId, name, digest })))
  const recipient = await identityToRecipient(identity)
  db.transaction(() => {
    // Our own key stays the one that new sets are made for, unless there is none yet.
    addKey({ ...deps, now: () => 0 }, { identity, recipient })
    if (known !== undefined) removeBackupSetRow(db, set.datastoreId)
    ensureBackupSet(db, { ...set, recipient, workspaceId, environmentId: null })
    updateBackupSet(db, set.datastoreId, { adoptedUntil: description.logUntil })
    for (const object of found) insertFound(deps, set.datastoreId, object)
    for (const backup of description.backups) insertDescribed(deps, set.datastoreId, { backup, found })
  })()
  return { missing: objects.length - found.length }
}

type DescribedObject = Description['objects'][number]

function insertFound({ db, now }: RepositoryDeps, datastoreId: string, object: DescribedObject): void {
  insertObject(db, { ...object, datastoreId })
  updateObject(db, { ...object, datastoreId }, { uploadedAt: now(), isLocal: false })
}

interface DescribedBackup {
  backup: Description['backups'][number]
  found: readonly DescribedObject[]
}

/** A backup whose archive has gone from the bucket is none to recover from. */
function insertDescribed({ db }: RepositoryDeps, datastoreId: string, { backup, found }: DescribedBackup): void {
  const { id, lineage = 0, kind, parentId, origin, createdAt, ...taken } = backup
  const isThere = found.some(({ name }) => name.startsWith(`${id}/`))
  insertBackup(db, { id, datastoreId, lineage, kind, parentId, origin, createdAt })
  updateBackup(db, id, { ...taken, status: isThere ? 'available' : 'damaged', reason: isThere ? null : 'It is missing at the bucket.' })
}
