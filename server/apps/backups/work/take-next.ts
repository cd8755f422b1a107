import { AppError, messageOf } from '../../../../shared/error.ts'
import { newId } from '../../../platform/id.ts'
import { describeError } from '../../../platform/server-log.ts'
import { pause } from '../../../platform/work/clock.ts'
import { spacesOf } from '../../../runtime/space/reserve.ts'
import type { AppContext } from '../../context.ts'
import { takeBackup } from '../postgres/take.ts'
import type { BackupSource } from '../postgres/tools.ts'
import { hasItsLog, verifyBackup } from '../postgres/verify.ts'
import { BackupDamaged } from '../repository/pack.ts'
import { type RepositoryDeps, removeObject } from '../repository/repository.ts'
import { type BackupOrigin, backupById, backupsOf, insertBackup, type StoredBackup, updateBackup } from '../rows/backup-store.ts'
import { objectsOf } from '../rows/object-store.ts'
import type { BackupSet } from '../rows/set-store.ts'
import type { DueBackup } from '../rules/schedule.ts'
import { recordBackupEvent } from './events.ts'
import type { Receivers } from './receivers.ts'

export interface Taking {
  context: AppContext
  deps: RepositoryDeps
  receivers: Pick<Receivers, 'archive'>
  set: BackupSet
  source: BackupSource
}

export function requestBackup(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  datastoreId: string,
  { due, origin }: { due: DueBackup; origin: BackupOrigin },
): StoredBackup {
  const createdAt = now()
  const id = newId('backup', createdAt)
  insertBackup(db, { id, datastoreId, kind: due.kind, parentId: due.kind === 'full' ? null : due.parentId, origin, createdAt })
  const stored = backupById(db, id)
  if (stored === undefined) throw new Error(`The backup ${id} was not kept`)
  return stored
}

/** Takes a backup that is written down, from the beginning, and looks at what came of it. @throws what ends the control plane. */
export async function takeRequested(taking: Taking, backup: StoredBackup): Promise<void> {
  const { context, deps, set, source } = taking
  recordBackupEvent(context, set, 'postgres_backup_started', { backupId: backup.id, kind: backup.kind })
  try {
    await forgetFiles(deps, backup)
    const wanted = { datastoreId: backup.datastoreId, backupId: backup.id, ...(backup.parentId !== null && { parentId: backup.parentId }) }
    const { timeline, startLsn, endLsn, plainBytes } = await takeBackup(deps, source, wanted, context.stopping)
    const completedAt = context.now()
    updateBackup(context.db, backup.id, { timeline, startLsn, endLsn, plainBytes })
    await untilLogCame(taking, backup.id)
    context.db.transaction(() => {
      updateBackup(context.db, backup.id, { status: 'available', completedAt })
      recordBackupEvent(context, set, 'postgres_backup_completed', { backupId: backup.id, kind: backup.kind, sizeBytes: plainBytes })
    })()
  } catch (error) {
    if (context.stopping.aborted) throw error
    const reason = messageOf(error)
    context.log.error('backup not taken', { datastoreId: backup.datastoreId, ...describeError(error) })
    await forgetFiles(deps, backup)
    context.db.transaction(() => {
      updateBackup(context.db, backup.id, { status: 'failed', reason })
      recordBackupEvent(context, set, 'postgres_backup_failed', { backupId: backup.id, reason })
    })()
  }
}

async function forgetFiles(deps: RepositoryDeps, { id, datastoreId }: StoredBackup): Promise<void> {
  for (const object of objectsOf(deps.db, datastoreId, `${id}/`)) await removeObject(deps, object)
}

const LOG_LOOKS = 1200
const LOG_LOOK_MS = 250

/** The server has begun another segment by itself at the end of the backup. */
async function untilLogCame({ context, deps, receivers }: Taking, id: string): Promise<void> {
  for (let look = 0; look < LOG_LOOKS; look += 1) {
    const backup = backupById(context.db, id)
    if (backup === undefined) return
    await receivers.archive(backup.datastoreId)
    if (hasItsLog(deps, backup)) return
    await pause(context, LOG_LOOK_MS, context.stopping)
  }
  throw new AppError('unavailable', 'The log that the backup needs did not come: the database does not send it.')
}

/** Verifies the newest backup that was not, where there is room to unpack it. Returns whether there was one. */
export async function verifyNext(taking: Pick<Taking, 'context' | 'deps' | 'set'> & { programs: string; uid: number }): Promise<boolean> {
  const { context, deps, set, programs, uid } = taking
  const next = backupsOf(context.db, set.datastoreId).find(({ status, verifiedAt }) => status === 'available' && verifiedAt === null)
  if (next === undefined || !hasRoom(context, next)) return false
  try {
    await verifyBackup(deps, next, { programs, uid, signal: context.stopping })
    context.db.transaction(() => {
      updateBackup(context.db, next.id, { verifiedAt: context.now() })
      recordBackupEvent(context, set, 'postgres_backup_verified', { backupId: next.id })
    })()
  } catch (error) {
    if (!(error instanceof BackupDamaged)) throw error
    noteDamage({ context, set }, next.id, error.message)
  }
  return true
}

/** Has what is not sound be replaced by a full backup. */
export function noteDamage({ context, set }: Pick<Taking, 'context' | 'set'>, backupId: string, reason: string): void {
  context.log.error('backup damaged', { datastoreId: set.datastoreId, backupId, reason })
  context.db.transaction(() => {
    updateBackup(context.db, backupId, { status: 'damaged', reason })
    recordBackupEvent(context, set, 'postgres_backup_damaged', { backupId, reason })
  })()
}

/** Archive and unpacked files stand beside each other for a moment. */
export function hasRoom({ paths }: Pick<AppContext, 'paths'>, { plainBytes }: Pick<StoredBackup, 'plainBytes'>): boolean {
  const { total, free } = spacesOf(paths.backups).bytes
  return total === 0 || free - (plainBytes ?? 0) * 3 > total / 20
}
