import type { Database } from 'bun:sqlite'
import { workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import type { ServerEndpoint } from './kind.ts'
import { OWNER_KIND, type StoredDatastore } from './store.ts'

/** Where the server of a datastore answers; undefined while it does not run. */
export const endpointOf = ({ db }: Pick<AppContext, 'db'>, { id }: Pick<StoredDatastore, 'id'>): ServerEndpoint | undefined =>
  runningServer(db, id)?.endpoint

/** The server of a datastore, by the id of what runs; undefined while it does not run. */
export function runningServer(db: Database, id: string): { id: string; endpoint: ServerEndpoint } | undefined {
  const up = workloadsOf(db, OWNER_KIND, id).find(({ phase }) => phase === 'running')
  return up?.address == null || up.port === null ? undefined : { id: up.id, endpoint: { host: up.address, port: up.port } }
}
