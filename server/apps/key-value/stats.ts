import { AppError } from '../../../shared/error.ts'
import { type KeyValueStats, keyValuePlans } from '../../../shared/key-value.ts'
import type { AppContext } from '../context.ts'
import { endpointOf } from '../datastores/endpoint.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { type Asking, clientsOf } from './figures.ts'
import { planOf } from './plan.ts'
import { readCommands, readInfo } from './server/info.ts'
import { requireRow } from './store.ts'
import { adminLogin } from './tend.ts'

/** What a store does now. @throws AppError conflict while it does not run, unavailable where it does not answer. */
export async function readStats(context: Asking & Pick<AppContext, 'db'>, datastore: StoredDatastore): Promise<KeyValueStats> {
  const at = endpointOf(context, datastore)
  if (at === undefined) {
    const mend = datastore.suspendedBy === null ? 'Try again when it is available.' : 'Resume it first.'
    throw new AppError('conflict', `${datastore.name} does not run now. ${mend}`)
  }
  const login = adminLogin(context, requireRow(context.db, datastore.id))
  const told = await context.keyValueServers.use(at, login, async (send) => String(await send(['INFO', 'everything'])), context.stopping)
  const info = readInfo(told)
  const { version, usedMemory, maxMemory, keys, hits, misses, evictions, expirations } = info
  const lookups = hits + misses
  return {
    ...{ version, keys, hits, misses, evictions, expirations },
    connections: clientsOf(info),
    connectionLimit: keyValuePlans[planOf(datastore)].connections,
    usedMemoryBytes: usedMemory,
    maxMemoryBytes: maxMemory,
    hitRatio: lookups === 0 ? null : hits / lookups,
    commands: readCommands(told),
  }
}
