/** Brings the backups of one database to what is due: taken, looked at, tried out, and forgotten when nobody needs them any more. */
import type { AppContext } from '../../context.ts'
import { datastoreById } from '../../datastores/store.ts'
import { keyOfDescription } from '../offsite/describe.ts'
import { WAL } from '../postgres/archive-wal.ts'
import { type RepositoryDeps, removeObject, removeSetFolder } from '../repository/repository.ts'
import { backupsOf, removeBackupRow, updateBackup } from '../rows/backup-store.ts'
import { objectsOf } from '../rows/object-store.ts'
import { isSourceOfRecovery } from '../rows/recovery-store.ts'
import { type BackupSet, backupSetOf, removeBackupSetRow, updateBackupSet } from '../rows/set-store.ts'
import { keptUntilOf, retain } from '../rules/retention.ts'
import { DAY_MS, nextBackup } from '../rules/schedule.ts'
import { isSegment, segmentNumberOf } from '../rules/wal-names.ts'
import { clearDrill, drill, nextDrillAt } from './drill.ts'
import type { Receivers } from './receivers.ts'
import type { Relays } from './relay.ts'
import { sourceOf, toolsOf, toolUid } from './source.ts'
import { requestBackup, takeRequested, verifyNext } from './take-next.ts'
import { recoverableOf } from './windows.ts'

/** Version from which on a server can make differences. */
const INCREMENTAL = 17
const LOOK_AGAIN_MS = 60 * 60_000

export interface Keeping {
  context: AppContext
  deps: RepositoryDeps
  receivers: Receivers
  relays: Relays
}

/** Returns when something is due though nothing happens (ms since 1970), or undefined. */
export async function keepBackups({ context, deps, receivers, relays }: Keeping, id: string): Promise<number | undefined> {
  const set = backupSetOf(context.db, id)
  if (set === undefined) return undefined
  const datastore = datastoreById(context.db, id)
  if (datastore === undefined || datastore.phase === 'deleting') return await keepOfDeleted(context, deps, set)
  if (datastore.kind !== 'postgres') return undefined
  await clearDrill(context, set)
  const source = await sourceOf(context, relays, datastore)
  const due = nextOf(context, set)
  if (source !== undefined && due.at <= context.now()) {
    const wanted = backupsOf(context.db, id).find(({ status }) => status === 'creating')
    await takeRequested(
      { context, deps, receivers, set, source },
      wanted ?? requestBackup(context, id, { due: due.backup, origin: 'scheduled' }),
    )
    return context.now()
  }
  const programs = await toolsOf(context, set.version)
  if (programs !== undefined && (await verifyNext({ context, deps, set, programs, uid: toolUid(context) }))) return context.now()
  const backups = backupsOf(context.db, id)
  if (programs !== undefined && nextDrillAt(backups) <= context.now()) await drill({ context, deps, set })
  await forgetOld(context, deps, id)
  return Math.min(
    Math.max(due.at, context.now() + 1000),
    Math.max(nextDrillAt(backups), context.now() + LOOK_AGAIN_MS),
    context.now() + LOOK_AGAIN_MS,
  )
}

/** What was asked for, or begun before a kill, comes first. A log with a gap behind the newest backup wants another. */
function nextOf(context: AppContext, set: BackupSet) {
  const backups = backupsOf(context.db, set.datastoreId)
  const now = context.now()
  const canBeIncremental = Number(set.version) >= INCREMENTAL
  const due = nextBackup(backups, { now, canBeIncremental })
  if (backups.some(({ status }) => status === 'creating')) return { at: now, backup: due.backup }
  const newest = recoverableOf(context, set).at(-1)
  const hasGap = newest !== undefined && newest.until < now && backups[0]?.status !== 'failed'
  return hasGap ? { at: now, backup: { kind: 'full' } as const } : due
}

async function keepOfDeleted(context: AppContext, deps: RepositoryDeps, set: BackupSet): Promise<number | undefined> {
  const { db, now } = context
  if (datastoreById(db, set.datastoreId) !== undefined) return undefined
  const isOrphan = db.query('SELECT 1 FROM workspaces WHERE id = ?').get(set.workspaceId) === null
  if (set.adoptedUntil !== null) return forgetAdopted(db, set, isOrphan)
  await clearDrill(context, set)
  const keptUntil = set.keptUntil ?? keptUntilOf(now())
  if (set.keptUntil === null) updateBackupSet(db, set.datastoreId, { keptUntil })
  if (!isOrphan && keptUntil > now()) return keptUntil
  if (isSourceOfRecovery(db, set.datastoreId)) return now() + LOOK_AGAIN_MS
  updateBackupSet(db, set.datastoreId, { isRemoving: true })
  for (const object of objectsOf(db, set.datastoreId)) await removeObject(deps, object)
  await deps.bucket?.remove(keyOfDescription(set.datastoreId))
  await removeSetFolder(deps, set.datastoreId)
  removeBackupSetRow(db, set.datastoreId)
  return undefined
}

/** Its files are another installation's, which may still serve it. */
function forgetAdopted(db: AppContext['db'], { datastoreId }: BackupSet, isOrphan: boolean): undefined {
  if (isOrphan && !isSourceOfRecovery(db, datastoreId)) removeBackupSetRow(db, datastoreId)
}

async function forgetOld(context: AppContext, deps: RepositoryDeps, id: string): Promise<void> {
  if (isSourceOfRecovery(context.db, id)) return
  const now = context.now()
  const { remove, walFrom } = retain(backupsOf(context.db, id), { since: now - context.config.CP_BACKUP_RETENTION_DAYS * DAY_MS, now })
  for (const backupId of remove) {
    updateBackup(context.db, backupId, { status: 'deleting' })
    for (const object of objectsOf(context.db, id, `${backupId}/`)) await removeObject(deps, object)
    removeBackupRow(context.db, backupId)
  }
  if (walFrom === undefined) return
  for (const object of objectsOf(context.db, id, WAL)) {
    const segment = object.name.slice(WAL.length)
    if (isSegment(segment) && segmentNumberOf(segment) < walFrom) await removeObject(deps, object)
  }
}
