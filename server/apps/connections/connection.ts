import type { DatastoreProperty } from '../../../shared/env.ts'
import type { AppContext } from '../context.ts'
import { handedOut } from '../datastores/credential-store.ts'
import type { DatastoreKind, StoredDatastore } from '../datastores/store.ts'

/** What services of its private network connect to a datastore with; what a kind does not have is left out. */
export type Connection = Partial<Record<DatastoreProperty, string>>

export const POSTGRES_PORT = 5432
/** Where the pooler of a database listens, beside its server. */
export const POSTGRES_POOL_PORT = 6432
export const KEY_VALUE_PORT = 6379

type Deps = Pick<AppContext, 'db' | 'sealer'>
type Named = Pick<StoredDatastore, 'id' | 'kind'>

interface Login {
  user: string
  password: string
}

const connections: Record<DatastoreKind, (deps: Deps, id: string, login: Login) => Connection> = {
  postgres({ db }, id, login) {
    const row = db
      .query<{ database: string; pool: string }, [string]>(
        'SELECT database_name AS database, connection_pool AS pool FROM postgres_databases WHERE id = ?',
      )
      .get(id)
    if (row === null) return {}
    const { database, pool } = row
    const at = (port: number) => `postgresql://${authority(login, id, port)}/${encodeURIComponent(database)}`
    return {
      ...{ ...login, host: id, port: String(POSTGRES_PORT), database, connectionString: at(POSTGRES_PORT) },
      ...(pool !== 'none' && { connectionPoolString: at(POSTGRES_POOL_PORT) }),
    }
  },
  key_value: (_, id, login) => ({
    ...login,
    host: id,
    port: String(KEY_VALUE_PORT),
    connectionString: `redis://${authority(login, id, KEY_VALUE_PORT)}`,
  }),
}

/** How a datastore is connected to from inside, out of what is kept: it need not run. Empty while nobody may sign in to it yet. */
export function connectionTo(deps: Deps, { id, kind }: Named): Connection {
  const login = handedOut(deps.db, deps.sealer, id)
  return login === undefined ? {} : connections[kind](deps, id, login)
}

const authority = ({ user, password }: Login, host: string, port: number): string =>
  `${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}`
