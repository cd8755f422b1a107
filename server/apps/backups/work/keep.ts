/** Brings the backups of one datastore to what is due: taken, looked at, tried out, and forgotten when nobody needs them any more. */
import { describeError } from '../../../platform/server-log.ts'
import type { AppContext } from '../../context.ts'
import { datastoreById, type StoredDatastore } from '../../datastores/store.ts'
import { keyOfDescription } from '../offsite/describe.ts'
import { type RepositoryDeps, removeObject, removeSetFolder } from '../repository/repository.ts'
import { backupsOf, removeBackupRow, updateBackup } from '../rows/backup-store.ts'
import { begunIn, isBeingRemoved, objectsOf, segmentsBefore, walIn } from '../rows/object-store.ts'
import { isSourceOfRecovery } from '../rows/recovery-store.ts'
import { type BackupSet, backupSetOf, removeBackupSetRow, updateBackupSet } from '../rows/set-store.ts'
import { lineagesOf } from '../rules/lineages.ts'
import { keptUntilOf, retain } from '../rules/retention.ts'
import { DAY_MS, type Due } from '../rules/schedule.ts'
import { placeInLog } from '../rules/wal-names.ts'
import { currentSet } from './current-set.ts'
import { clearDrill, type Drilling, drill, nextDrillAt } from './drill.ts'
import { keepPostgres } from './keep-postgres.ts'
import { keepStore } from './keep-store.ts'
import type { Keeping, KeptKind } from './keeping.ts'
import { requestBackup, type Taking, takeRequested, verifyNext } from './take-next.ts'

const LOOK_AGAIN_MS = 60 * 60_000
const REMOVAL_LOOK_MS = 5000

/** Returns when something is due though nothing happens (ms since 1970), or undefined. */
export async function keepBackups(keeping: Keeping, id: string): Promise<number | undefined> {
  const { context, deps } = keeping
  const datastore = datastoreById(context.db, id)
  if (datastore === undefined || datastore.phase === 'deleting') return await keepOfDeleted(context, deps, id)
  const { dueOf, take, verify } = await keptKind(keeping, datastore)
  const set = backupSetOf(context.db, id)
  if (set === undefined) return undefined
  await clearDrill(context, set)
  const due = nextOf(context, dueOf(set), id)
  if (take !== undefined && due.at <= context.now()) {
    if (isBeingUpgraded(context, id)) return undefined
    await takeNext(keeping, { set, take, due })
    return context.now()
  }
  if (verify !== undefined && (await verifyNext({ context, set, verify }))) return context.now()
  const backups = backupsOf(context.db, id)
  await forgetOld(context, deps, id)
  if (verify !== undefined && nextDrillAt(backups, context.now()) <= context.now())
    await drillQuietly(keeping, { context, deps, set, verify })
  const lookAgainAt = context.now() + LOOK_AGAIN_MS
  return take === undefined ? lookAgainAt : Math.min(Math.max(due.at, context.now() + 1000), lookAgainAt)
}

interface Next extends Pick<Taking, 'set' | 'take'> {
  due: Due
}

async function takeNext({ context, deps, taking }: Keeping, { set, take, due }: Next): Promise<void> {
  const id = set.datastoreId
  taking.add(id)
  try {
    const wanted = backupsOf(context.db, id).find(({ status }) => status === 'creating')
    const backup = wanted ?? requestBackup(context, id, { due: due.backup, origin: 'scheduled' })
    await takeRequested({ context, deps, set, take }, backup)
  } finally {
    taking.delete(id)
  }
}

/** Upgrades wait for a backup that has begun, and stop the server of one that begins after them. Their end pokes. */
const isBeingUpgraded = ({ db }: AppContext, id: string): boolean => datastoreById(db, id)?.upgrade != null

/** What the machine has no room for now holds up nothing else, and is tried again a day later. */
async function drillQuietly({ drillsTriedAt }: Keeping, drilling: Drilling): Promise<void> {
  const { context, set } = drilling
  const triedAt = drillsTriedAt.get(set.datastoreId)
  if (triedAt !== undefined && Math.abs(context.now() - triedAt) < DAY_MS) return
  drillsTriedAt.set(set.datastoreId, context.now())
  await drill(drilling).catch((error) => {
    if (context.stopping.aborted) throw error
    context.log.error('backup not tried out', { datastoreId: set.datastoreId, ...describeError(error) })
  })
}

/** Sets of databases begin with their log, those of stores when they first run. */
async function keptKind(keeping: Keeping, datastore: StoredDatastore): Promise<KeptKind> {
  if (datastore.kind === 'postgres') return await keepPostgres(keeping, datastore)
  const kept = keepStore(keeping, datastore)
  if (kept.take !== undefined) await currentSet(keeping.context, datastore)
  return kept
}

function nextOf(context: AppContext, due: Due, id: string): Due {
  const isWaiting = backupsOf(context.db, id).some(({ status }) => status === 'creating')
  return isWaiting ? { at: context.now(), backup: due.backup } : due
}

async function keepOfDeleted(context: AppContext, deps: RepositoryDeps, id: string): Promise<number | undefined> {
  const { db, now } = context
  const set = backupSetOf(db, id)
  if (set === undefined || datastoreById(db, id) !== undefined) return undefined
  const isOrphan = db.query('SELECT 1 FROM workspaces WHERE id = ?').get(set.workspaceId) === null
  if (set.adoptedUntil !== null) return forgetAdopted(db, set, isOrphan)
  await clearDrill(context, set)
  const keptUntil = set.keptUntil ?? keptUntilOf(now())
  if (set.keptUntil === null) updateBackupSet(db, set.datastoreId, { keptUntil })
  if (!isOrphan && keptUntil > now()) return keptUntil
  if (isSourceOfRecovery(db, set.datastoreId)) return now() + LOOK_AGAIN_MS
  updateBackupSet(db, set.datastoreId, { isRemoving: true })
  for (const object of objectsOf(db, set.datastoreId)) await removeObject(deps, object)
  if (deps.bucket !== undefined && isBeingRemoved(db, set.datastoreId)) return now() + REMOVAL_LOOK_MS
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
  const days = context.config.CP_BACKUP_RETENTION_DAYS
  const { remove, walFrom } = retain(backupsOf(context.db, id), { since: now - days * DAY_MS, now, least: days })
  for (const backupId of remove) {
    updateBackup(context.db, backupId, { status: 'deleting' })
    for (const object of objectsOf(context.db, id, `${backupId}/`)) await removeObject(deps, object)
    removeBackupRow(context.db, backupId)
  }
  await forgetLogs(context, deps, { id, walFrom })
}

interface Needed {
  id: string
  walFrom: ReadonlyMap<number, number>
}

/** A lineage that has ended goes with its last backup. One that goes on may have none yet. */
async function forgetLogs({ db }: AppContext, deps: RepositoryDeps, { id, walFrom }: Needed): Promise<void> {
  const set = backupSetOf(db, id)
  if (set === undefined) return
  for (const { lineage, until } of lineagesOf(set)) {
    const from = walFrom.get(lineage)
    const isOver = from === undefined && until !== undefined
    const over = isOver ? [walIn(lineage), begunIn(lineage)].flatMap((beginning) => objectsOf(db, id, beginning)) : []
    const former = from === undefined ? over : segmentsBefore(db, { datastoreId: id, lineage }, placeInLog(from))
    for (const object of former) await removeObject(deps, object)
  }
}
