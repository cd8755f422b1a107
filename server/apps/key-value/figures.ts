import type { DatastoreFigures } from '../../telemetry/metrics/datastore-samples.ts'
import type { AppContext } from '../context.ts'
import type { ServerEndpoint } from '../datastores/kind.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import type { ServerInfo } from './server/info.ts'
import { requireRow } from './store.ts'
import { adminLogin, infoOf } from './tend.ts'

export type Asking = Pick<AppContext, 'db' | 'sealer' | 'keyValueServers' | 'stopping'>

/** The connection that asks is one of the clients that a server tells of. */
export const clientsOf = ({ clients }: Pick<ServerInfo, 'clients'>): number => Math.max(0, clients - 1)

/** How a store is now. @throws AppError unavailable where it does not answer. */
export async function readFigures(context: Asking, { id }: StoredDatastore, at: ServerEndpoint): Promise<DatastoreFigures> {
  const login = adminLogin(context, requireRow(context.db, id))
  const info = await context.keyValueServers.use(at, login, infoOf, context.stopping)
  const { usedMemory: memory, keys, hits, misses, evictions, commands: operations } = info
  return { connections: clientsOf(info), memory, keys, hits, misses, evictions, operations }
}
