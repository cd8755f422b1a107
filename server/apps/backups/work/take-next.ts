import { messageOf } from '../../../../shared/error.ts'
import { newId } from '../../../platform/id.ts'
import { describeError } from '../../../platform/server-log.ts'
import type { AppContext } from '../../context.ts'
import { BackupDamaged } from '../repository/pack.ts'
import { type RepositoryDeps, removeObject } from '../repository/repository.ts'
import { hasRoomFor, requireRoom } from '../repository/room.ts'
import {
  type BackupOrigin,
  backupById,
  backupsOf,
  currentBackups,
  insertBackup,
  type StoredBackup,
  updateBackup,
} from '../rows/backup-store.ts'
import { objectsOf } from '../rows/object-store.ts'
import { type BackupSet, backupSetOf } from '../rows/set-store.ts'
import type { DueBackup } from '../rules/schedule.ts'
import { recordBackupEvent } from './events.ts'

export interface Taken {
  plainBytes: number
  /** From this moment on it can be recovered to (ms since 1970). */
  completedAt: number
}

export interface Taking {
  context: AppContext
  deps: RepositoryDeps
  set: BackupSet
  /** Takes one that is written down into the repository. @throws whatever keeps it from being whole. */
  take(backup: StoredBackup): Promise<Taken>
}

export function requestBackup(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  datastoreId: string,
  { due, origin }: { due: DueBackup; origin: BackupOrigin },
): StoredBackup {
  const createdAt = now()
  const id = newId('backup', createdAt)
  const lineage = backupSetOf(db, datastoreId)?.lineage ?? 0
  insertBackup(db, { id, datastoreId, lineage, kind: due.kind, parentId: due.kind === 'full' ? null : due.parentId, origin, createdAt })
  const stored = backupById(db, id)
  if (stored === undefined) throw new Error(`The backup ${id} was not kept`)
  return stored
}

/** Takes a backup that is written down, from the beginning, and looks at what came of it. @throws what ends the control plane. */
export async function takeRequested(taking: Taking, backup: StoredBackup): Promise<void> {
  const { context, deps, set, take } = taking
  recordBackupEvent(context, set, 'started', { backupId: backup.id, kind: backup.kind })
  try {
    await forgetFiles(deps, backup)
    requireRoom(context.paths, expectedBytes(context.db, backup))
    const { plainBytes, completedAt } = await take(backup)
    context.db.transaction(() => {
      updateBackup(context.db, backup.id, { status: 'available', plainBytes, completedAt })
      recordBackupEvent(context, set, 'completed', { backupId: backup.id, kind: backup.kind, sizeBytes: plainBytes })
    })()
  } catch (error) {
    if (context.stopping.aborted) throw error
    const reason = messageOf(error)
    context.log.error('backup not taken', { datastoreId: backup.datastoreId, ...describeError(error) })
    await forgetFiles(deps, backup)
    context.db.transaction(() => {
      updateBackup(context.db, backup.id, { status: 'failed', reason })
      recordBackupEvent(context, set, 'failed', { backupId: backup.id, reason })
    })()
  }
}

async function forgetFiles(deps: RepositoryDeps, { id, datastoreId }: StoredBackup): Promise<void> {
  for (const object of objectsOf(deps.db, datastoreId, `${id}/`)) await removeObject(deps, object)
}

export interface Verifying extends Pick<Taking, 'context' | 'set'> {
  /** @throws BackupDamaged naming what is wrong. */
  verify(backup: StoredBackup): Promise<void>
}

/** Verifies the newest backup that was not, where there is room to unpack it. Returns whether there was one. */
export async function verifyNext({ context, set, verify }: Verifying): Promise<boolean> {
  const next = currentBackups(context.db, set).find(({ status, verifiedAt }) => status === 'available' && verifiedAt === null)
  if (next === undefined || !hasRoom(context, next)) return false
  try {
    await verify(next)
    context.db.transaction(() => {
      updateBackup(context.db, next.id, { verifiedAt: context.now() })
      recordBackupEvent(context, set, 'verified', { backupId: next.id })
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
    recordBackupEvent(context, set, 'damaged', { backupId, reason })
  })()
}

/** Archive and unpacked files stand beside each other for a moment. */
export const hasRoom = ({ paths }: Pick<AppContext, 'paths'>, { plainBytes }: Pick<StoredBackup, 'plainBytes'>): boolean =>
  hasRoomFor(paths, (plainBytes ?? 0) * 3)

/** What the backup of this kind before took is what this one takes; nobody knows of a first one. */
function expectedBytes(db: AppContext['db'], { datastoreId, kind }: StoredBackup): number {
  const before = backupsOf(db, datastoreId).find((backup) => backup.kind === kind && backup.status === 'available')
  return before === undefined ? 0 : objectsOf(db, datastoreId, `${before.id}/`).reduce((sum, { packedBytes }) => sum + packedBytes, 0)
}
