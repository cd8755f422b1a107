import { AppError } from '../../../../shared/error.ts'
import { pause } from '../../../platform/work/clock.ts'
import type { AppContext } from '../../context.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { takeBackup } from '../postgres/take.ts'
import { hasItsLog, verifyBackup } from '../postgres/verify.ts'
import { backupById, currentBackups, type StoredBackup, updateBackup } from '../rows/backup-store.ts'
import { lastOfLog } from '../rows/object-store.ts'
import type { BackupSet } from '../rows/set-store.ts'
import { type Due, nextBackup } from '../rules/schedule.ts'
import { timelineOf } from '../rules/wal-names.ts'
import type { Keeping, KeptKind } from './keeping.ts'
import { isOfLineage } from './lineage.ts'
import { type RunningSource, sourceOf, toolsOf, toolUid } from './source.ts'
import type { Taken } from './take-next.ts'
import { recoverableOf } from './windows.ts'

/** Version from which on a server can make differences. */
const INCREMENTAL = 17

export async function keepPostgres(keeping: Keeping, datastore: StoredDatastore): Promise<KeptKind> {
  const { context, deps, relays } = keeping
  const source = await sourceOf(context, relays, datastore)
  const programs = await toolsOf(context, datastore.version)
  // Programs of one version take nothing of another, and find everything of it damaged.
  if (!isOfLineage(context, datastore)) return { dueOf: (set) => dueOf(keeping, set) }
  return {
    dueOf: (set) => dueOf(keeping, set),
    ...(source && { take: (backup) => takePostgres(keeping, source, backup) }),
    ...(programs !== undefined && {
      verify: (backup) => verifyBackup(deps, backup, { programs, uid: toolUid(context), signal: context.stopping }),
    }),
  }
}

/** A log with a gap behind the newest backup wants another. */
function dueOf({ context }: Keeping, set: BackupSet): Due {
  const backups = currentBackups(context.db, set)
  const now = context.now()
  const newest = recoverableOf(context, set).at(-1)
  const hasGap = newest !== undefined && newest.until < now && backups[0]?.status !== 'failed'
  if (hasGap || hasNewTimeline(context, set)) return { at: now, backup: { kind: 'full' } }
  return nextBackup(backups, { now, canBeIncremental: Number(set.version) >= INCREMENTAL })
}

/** The log of a server that took the place of another begins where that one ended: nothing is a difference to what was before. */
function hasNewTimeline({ db }: AppContext, set: BackupSet): boolean {
  const name = lastOfLog(db, set)
  const newest = name === undefined ? 0 : timelineOf(name)
  const [last] = currentBackups(db, set)
  return last !== undefined && last.status !== 'failed' && (last.timeline ?? newest) < newest
}

export async function takePostgres(keeping: Keeping, source: RunningSource, { id, datastoreId, parentId }: StoredBackup): Promise<Taken> {
  const { context, deps } = keeping
  const wanted = { datastoreId, backupId: id, ...(parentId !== null && { parentId }) }
  const { timeline, startLsn, endLsn, plainBytes } = await takeBackup(deps, source, wanted, context.stopping)
  const completedAt = context.now()
  updateBackup(context.db, id, { timeline, startLsn, endLsn, plainBytes })
  await untilLogCame(keeping, id)
  return { plainBytes, completedAt }
}

const LOG_LOOKS = 1200
const LOG_LOOK_MS = 250

/** The server has begun another segment by itself at the end of the backup. */
async function untilLogCame({ context, deps, receivers }: Keeping, id: string): Promise<void> {
  for (let look = 0; look < LOG_LOOKS; look += 1) {
    const backup = backupById(context.db, id)
    if (backup === undefined) return
    await receivers.archive(backup.datastoreId)
    if (hasItsLog(deps, backup)) return
    await pause(context, LOG_LOOK_MS, context.stopping)
  }
  throw new AppError('unavailable', 'The log that the backup needs did not come: the database does not send it.')
}
