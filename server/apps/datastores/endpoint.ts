import type { Database } from 'bun:sqlite'
import { workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import type { ServerEndpoint } from './kind.ts'
import { OWNER_KIND, type StoredDatastore } from './store.ts'

/** Where the server of a datastore answers; undefined while it does not run. */
export const endpointOf = ({ db }: Pick<AppContext, 'db'>, { id }: Pick<StoredDatastore, 'id'>): ServerEndpoint | undefined =>
  runningServer(db, id)?.endpoint

export interface RunningServer {
  id: string
  endpoint: ServerEndpoint
  startedAt: number | null
}

/** The server of a datastore, by the id of what runs; undefined while it does not run. */
export function runningServer(db: Database, id: string): RunningServer | undefined {
  const up = workloadsOf(db, OWNER_KIND, id).find(({ phase }) => phase === 'running')
  if (up?.address == null || up.port === null) return undefined
  return { id: up.id, endpoint: { host: up.address, port: up.port }, startedAt: up.startedAt }
}
