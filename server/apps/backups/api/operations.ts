import type { RecoveryBody } from '../../../../shared/backup.ts'
import { AppError, invalidValue } from '../../../../shared/error.ts'
import { type PostgresPlan, postgresPlans } from '../../../../shared/postgres.ts'
import type { Actor } from '../../../http/handlers/call.ts'
import { withinQuotas } from '../../../identity/quotas/enforce.ts'
import { refuseProtected, type Viewer } from '../../../identity/scopes/protection.ts'
import { isWithin } from '../../../identity/scopes/scope.ts'
import { inOneChange } from '../../../platform/db/change.ts'
import type { AppContext } from '../../context.ts'
import { addDatastore, refuseBadSize, refuseLargeDatastore, refuseReplica, refuseUnlessReady } from '../../datastores/operations.ts'
import { requireDatastore } from '../../datastores/require.ts'
import { type DatastoreKind, datastoreById, findDatastore, type StoredDatastore } from '../../datastores/store.ts'
import { addOwnPostgres } from '../../postgres/create.ts'
import { backupById, backupsOf, type StoredBackup } from '../rows/backup-store.ts'
import { insertRecovery } from '../rows/recovery-store.ts'
import { type BackupSet, backupSetOf, postgresRecipe } from '../rows/set-store.ts'
import { backupFor } from '../rules/chain.ts'
import { versionIn } from '../rules/lineages.ts'
import { requestBackup } from '../work/take-next.ts'
import { recoverableOf } from '../work/windows.ts'
import { promisedWindows, type Window } from './present.ts'
import { freeName, requireCreation, requireWhole } from './recovery.ts'

/** The backups of a datastore of the caller's workspace, also of one that was deleted; undefined while there are none. @throws AppError as `requireDatastore` does. */
export function requireBackups(
  context: AppContext,
  viewer: Viewer,
  { id, kind }: { id: string; kind: DatastoreKind },
): BackupSet | undefined {
  const set = backupSetOf(context.db, id)
  const isThere = findDatastore(context.db, viewer.workspaceId, id) !== undefined
  const isVisible =
    set?.kind === kind && set.workspaceId === viewer.workspaceId && isWithin(viewer.scope, { id, environmentId: set.environmentId })
  if (isThere || !isVisible || set.isRemoving) {
    const { primaryId } = requireDatastore(context, viewer, id, kind)
    return primaryId === null ? set : backupSetOf(context.db, primaryId)
  }
  refuseProtected(context.db, viewer, set.environmentId)
  return set
}

const MOST_WAITING = 3

/** @throws AppError conflict for a datastore that does not run, or of which a backup is being taken. */
export function requestManualBackup(context: AppContext, datastore: StoredDatastore): StoredBackup {
  refuseReplica(datastore, 'backups are taken there.')
  refuseUnlessReady(datastore)
  if (datastore.suspendedBy !== null) throw new AppError('conflict', `${datastore.name} is suspended. Resume it first.`)
  const set = backupSetOf(context.db, datastore.id)
  if (set === undefined)
    throw new AppError('conflict', `${datastore.name} is not available yet. Its first backup is taken as soon as it is.`)
  const waiting = backupsOf(context.db, datastore.id).filter(({ status }) => status === 'creating')
  if (waiting.length >= MOST_WAITING)
    throw new AppError('conflict', `${waiting.length} backups of ${datastore.name} are being taken. Wait until one is complete.`)
  const backup = requestBackup(context, datastore.id, { due: { kind: 'full' }, origin: 'manual' })
  context.work.poke('datastore', datastore.id)
  return backup
}

/** Writes a database down that is made of backups of another. @throws AppError as told by the operation. */
export function recoverPostgres(
  context: AppContext,
  actor: Actor,
  { set, body }: { set: BackupSet | undefined; body: RecoveryBody },
): StoredDatastore {
  if (set === undefined) throw new AppError('conflict', 'There is no complete backup of this database yet. Try again in a minute.')
  const { db } = context
  requireCreation(actor)
  const chosen = chooseBackup(context, set, body)
  const { plan: formerPlan, sizeGb, ...own } = postgresRecipe(set)
  const plan = planOf(body.plan ?? formerPlan)
  const version = versionOf(context, set, chosen)
  if (plan !== formerPlan) refuseLargeDatastore(context, 'postgres', plan)
  refuseBadSize(context, { sizeGb, given: 0 })
  const original = datastoreById(db, set.datastoreId)
  const environmentId = body.environmentId === undefined ? (original?.environmentId ?? undefined) : body.environmentId
  return inOneChange(db, () =>
    withinQuotas(context, actor.workspaceId, () => {
      const name = body.name ?? body.restoreName ?? freeName(context, set)
      const ipAllowList = original?.ipAllowList ?? []
      const datastore = addDatastore(context, actor, {
        kind: 'postgres',
        name,
        plan,
        version,
        sizeGb,
        ipAllowList,
        environmentId,
        phase: 'recovering',
      })
      addOwnPostgres(context, datastore, own)
      insertRecovery(db, { datastoreId: datastore.id, sourceId: set.datastoreId, ...chosen, createdAt: context.now() })
      context.work.poke('datastore', datastore.id)
      return datastore
    }),
  )
}

/** What was written by one major version is read by no other. */
function versionOf(context: AppContext, set: BackupSet, { backupId }: { backupId: string }): string {
  const version = versionIn(set, backupById(context.db, backupId)?.lineage ?? set.lineage)
  if (context.programs.available('postgres').some(({ major }) => major === version)) return version
  throw new AppError(
    'unavailable',
    `It was of PostgreSQL ${version} then, which this server has no more. Its operator can name a folder that has it in CP_POSTGRES_DIR.`,
  )
}

function planOf(plan: string): PostgresPlan {
  if (plan in postgresPlans) return plan as PostgresPlan
  throw invalidValue('/plan', `There is no plan ${plan}, but ${Object.keys(postgresPlans).join(', ')}.`)
}

function chooseBackup(context: AppContext, set: BackupSet, { restoreTime, backupId }: RecoveryBody): { backupId: string; target: string } {
  if (restoreTime !== undefined && backupId !== undefined) throw invalidValue('/backupId', 'Give either a moment or a backup.')
  const windows = recoverableOf(context, set)
  if (backupId !== undefined) {
    requireWhole(context, set, backupId)
    return { backupId, target: 'immediate' }
  }
  const newest = windows.at(-1)
  if (newest === undefined) throw new AppError('conflict', 'There is no complete backup of this database yet. Try again in a minute.')
  if (restoreTime === undefined) {
    refuseFormer(set, newest.backup)
    return { backupId: newest.backup.id, target: 'latest' }
  }
  const at = Date.parse(restoreTime)
  const promised = promisedWindows(context, set)
  const backup = promised.some(({ from, until }) => from <= at && at <= until) ? backupFor(windows, at) : undefined
  if (backup === undefined)
    throw invalidValue('/restoreTime', `There is no backup of ${restoreTime}. It can be recovered to any moment ${wordsOf(promised)}.`)
  return { backupId: backup.id, target: String(at) }
}

/** What was committed last is in no backup of before. */
function refuseFormer({ lineage, version }: BackupSet, backup: StoredBackup): void {
  if (backup.lineage !== lineage)
    throw new AppError(
      'conflict',
      `The first backup since it is of PostgreSQL ${version} is being taken. Try again in a minute, or give a moment before that.`,
    )
}

const wordsOf = (windows: readonly Window[]): string =>
  windows.map(({ from, until }) => `from ${new Date(from).toISOString()} to ${new Date(until).toISOString()}`).join(', or ')
