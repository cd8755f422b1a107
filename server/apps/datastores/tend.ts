import { workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { type DatastoreServers, serverOf } from './kind.ts'
import { datastoreById, OWNER_KIND } from './store.ts'

/** Has the server of a datastore, if it runs, be as is wanted of it. Returns when to come back though nothing happens (ms since 1970). */
export async function tendDatastore({ db }: AppContext, servers: DatastoreServers, id: string): Promise<number | undefined> {
  const datastore = datastoreById(db, id)
  const running = workloadsOf(db, OWNER_KIND, id).find(({ phase }) => phase === 'running')
  if (datastore === undefined || running?.address == null || running.port === null) return undefined
  return await serverOf(servers, datastore).tend?.(datastore, { host: running.address, port: running.port })
}
