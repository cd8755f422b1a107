import type { KeyValueRecoveryBody } from '../../../../shared/backup.ts'
import { AppError } from '../../../../shared/error.ts'
import type { Actor } from '../../../http/handlers/call.ts'
import { inOneChange } from '../../../platform/db/change.ts'
import type { AppContext } from '../../context.ts'
import { datastoreById, type StoredDatastore } from '../../datastores/store.ts'
import { addStore } from '../../key-value/operations.ts'
import { planOf } from '../../key-value/plan.ts'
import { backupsOf } from '../rows/backup-store.ts'
import { insertRecovery } from '../rows/recovery-store.ts'
import { type BackupSet, keyValueRecipe } from '../rows/set-store.ts'
import { freeName, requireCreation, requireWhole } from './recovery.ts'

/** Writes a store down that is made of a backup of another. @throws AppError as told by the operation. */
export function recoverStore(
  context: AppContext,
  actor: Actor,
  { set, body }: { set: BackupSet | undefined; body: KeyValueRecoveryBody },
): StoredDatastore {
  const { db } = context
  const source = chooseBackup(context, set, body)
  requireCreation(actor)
  const { plan: formerPlan, maxmemoryPolicy, persistenceMode } = keyValueRecipe(source.set)
  const { datastoreId: sourceId } = source.set
  const original = datastoreById(db, sourceId)
  return inOneChange(db, () => {
    const datastore = addStore(context, actor, {
      name: body.name ?? freeName(context, source.set),
      plan: body.plan ?? planOf({ plan: formerPlan }),
      ipAllowList: original?.ipAllowList ?? [],
      environmentId: body.environmentId === undefined ? (original?.environmentId ?? undefined) : body.environmentId,
      ...{ maxmemoryPolicy, persistenceMode, isRecovered: true },
    })
    insertRecovery(db, { datastoreId: datastore.id, sourceId, backupId: source.backupId, target: 'immediate', createdAt: context.now() })
    return datastore
  })
}

function chooseBackup(
  context: AppContext,
  set: BackupSet | undefined,
  { backupId }: KeyValueRecoveryBody,
): { set: BackupSet; backupId: string } {
  const newest = set && backupsOf(context.db, set.datastoreId).find(({ status }) => status === 'available')
  if (set === undefined || newest === undefined)
    throw new AppError('conflict', 'There is no complete backup of this store yet. Take one first.')
  if (backupId !== undefined) requireWhole(context, set, backupId)
  return { set, backupId: backupId ?? newest.id }
}
