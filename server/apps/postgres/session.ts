import { AppError } from '../../../shared/error.ts'
import type { PostgresConnection, PostgresTarget } from '../../platform/postgres/connect.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import { passwordPurpose } from '../datastores/credential-store.ts'
import { endpointOf } from '../datastores/endpoint.ts'
import type { ServerEndpoint } from '../datastores/kind.ts'
import { datastoreById, type StoredDatastore } from '../datastores/store.ts'
import { ADMIN, adminSettings } from './roles.ts'
import { postgresById, type StoredPostgres } from './store.ts'

type Deps = Pick<AppContext, 'db' | 'sealer' | 'connectPostgres'>

/** Nothing that is asked of a server for people takes longer, or waits longer for who holds a lock. */
const LIMITS =
  "SET search_path = pg_catalog; SET statement_timeout = '10s'; SET lock_timeout = '3s'; SET idle_in_transaction_session_timeout = '10s'"

/** @throws AppError conflict while it does not run. */
export function requireEndpoint(deps: Pick<AppContext, 'db'>, datastore: StoredDatastore): ServerEndpoint {
  const endpoint = endpointOf(deps, datastore)
  if (endpoint !== undefined) return endpoint
  const mend = datastore.suspendedBy === null ? 'Try again when it is available.' : 'Resume it first.'
  throw new AppError('conflict', `${datastore.name} does not run now. ${mend}`)
}

/** The half of a row that is of databases alone. @throws Error for a row without it. */
export function ownOf({ db }: Pick<AppContext, 'db'>, { id }: Pick<StoredDatastore, 'id'>): StoredPostgres {
  const own = postgresById(db, id)
  if (own === undefined) throw new Error(`The database ${id} has half of its row`)
  return own
}

/**
 * Does something as the platform's superuser, in the database `postgres` unless another is named. Tenants make functions and views in theirs:
 * names have to be qualified there, and nothing of theirs may be called. @throws whatever refuses.
 */
export function asAdmin<T>(
  deps: Deps,
  { id, endpoint, database = 'postgres' }: { id: string; endpoint: ServerEndpoint; database?: string },
  use: (sql: PostgresConnection) => Promise<T>,
): Promise<T> {
  const { adminPasswordSealed } = ownOf(deps, { id })
  const password = deps.sealer.open(adminPasswordSealed, passwordPurpose(id, 'admin'))
  const settings = adminSettings(Number(datastoreById(deps.db, id)?.version))
  return inSession(deps, { ...endpoint, user: ADMIN, password, database, settings }, use)
}

/** Does something in one connection, which ends with it. @throws whatever refuses. */
export async function inSession<T>(
  { connectPostgres }: Pick<AppContext, 'connectPostgres'>,
  target: PostgresTarget,
  use: (sql: PostgresConnection) => Promise<T>,
): Promise<T> {
  const connection = await connectPostgres(target)
  try {
    await connection.run(LIMITS)
    return await use(connection)
  } finally {
    await connection.close()
  }
}

/** Errors of a server go to the log of this one; people are told that it did not answer. @throws AppError unavailable for all that is none. */
export async function answered<T>({ log }: Pick<AppContext, 'log'>, id: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    log.error('database did not answer', { datastoreId: id, ...describeError(cause) })
    throw new AppError('unavailable', 'The database did not answer as it should. Try again in a moment; its log may say more.', { cause })
  }
}
