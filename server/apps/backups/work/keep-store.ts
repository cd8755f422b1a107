import { AppError } from '../../../../shared/error.ts'
import { keyValuePlans } from '../../../../shared/key-value.ts'
import type { AppContext } from '../../context.ts'
import { endpointOf } from '../../datastores/endpoint.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { planOf } from '../../key-value/plan.ts'
import { requireRow } from '../../key-value/store.ts'
import { adminLogin } from '../../key-value/tend.ts'
import { type StoreSource, takeSnapshot, verifySnapshot } from '../key-value/snapshots.ts'
import { backupsOf, type StoredBackup } from '../rows/backup-store.ts'
import { nextSnapshot } from '../rules/schedule.ts'
import type { Keeping, KeptKind } from './keeping.ts'
import { hasRoom, type Taken } from './take-next.ts'

const MIB = 1024 * 1024

/** How the backups of a key-value store are kept. */
export function keepStore(keeping: Pick<Keeping, 'context' | 'deps'>, datastore: StoredDatastore): KeptKind {
  const { context, deps } = keeping
  const { id, createdAt } = datastore
  const { persistenceMode } = requireRow(context.db, id)
  const source = storeSourceOf(context, datastore)
  return {
    dueOf: () => nextSnapshot(backupsOf(context.db, id), { now: context.now(), since: createdAt, isWanted: persistenceMode !== 'off' }),
    ...(source && { take: (backup) => takeStore(keeping, source, backup) }),
    verify: ({ datastoreId, id: backupId }) => verifySnapshot(deps, { datastoreId, backupId }),
  }
}

/** The server of a store as its backups are taken from; undefined while it does not run. */
export function storeSourceOf(context: AppContext, datastore: StoredDatastore): StoreSource | undefined {
  const at = endpointOf(context, datastore)
  if (at === undefined) return undefined
  const login = adminLogin(context, requireRow(context.db, datastore.id))
  return { servers: context.keyValueServers, at, login, maxBytes: bytesOf(datastore) }
}

/** All of its memory, which what it keeps of keys is never as large as. */
const bytesOf = (datastore: StoredDatastore): number => keyValuePlans[planOf(datastore)].memoryMb * MIB

/** @throws AppError unavailable without room, and as `takeSnapshot` does. */
export async function takeStore(
  { context, deps }: Pick<Keeping, 'context' | 'deps'>,
  source: StoreSource,
  { id: backupId, datastoreId }: StoredBackup,
): Promise<Taken> {
  const { plainBytes: expected = 0 } = backupsOf(context.db, datastoreId).find(({ status }) => status === 'available') ?? {}
  if (!hasRoom(context, { plainBytes: expected }))
    throw new AppError('unavailable', 'The disk of this server is too full for another backup.')
  const { plainBytes } = await takeSnapshot(deps, source, { datastoreId, backupId }, context.stopping)
  return { plainBytes, completedAt: context.now() }
}
