import { AppError } from '../../../shared/error.ts'
import type { PostgresConnectionInfo } from '../../../shared/postgres.ts'
import { connectionTo } from '../connections/connection.ts'
import type { AppContext } from '../context.ts'
import { externalAddressOf, poolHostOf } from '../datastores/addresses.ts'
import { handedOut } from '../datastores/credential-store.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { postgresById } from './store.ts'

/** How a database is connected to; what is from outside is empty where this server has no way in. @throws AppError not_found for one that goes. */
export function connectionInfo(context: AppContext, datastore: StoredDatastore): PostgresConnectionInfo {
  const { db, sealer } = context
  const { id } = datastore
  const [own, credential] = [postgresById(db, id), handedOut(db, sealer, id)]
  if (own === undefined || credential === undefined) throw new AppError('not_found', `There is no database ${id} any more.`)
  const { user, password } = credential
  const { databaseName } = own
  const outside = externalAddressOf(context, datastore)
  const pooled =
    outside && own.connectionPool !== 'none'
      ? `postgresql://${user}:${password}@${poolHostOf(outside.host)}:${outside.port}/${databaseName}`
      : undefined
  const { connectionString = '', connectionPoolString } = connectionTo(context, datastore)
  return {
    password,
    internalConnectionString: connectionString,
    externalConnectionString:
      outside === undefined ? '' : `postgresql://${user}:${password}@${outside.host}:${outside.port}/${databaseName}`,
    ...(connectionPoolString !== undefined && { internalConnectionPoolString: connectionPoolString }),
    ...(pooled !== undefined && { externalConnectionPoolString: pooled }),
    psqlCommand:
      outside === undefined ? '' : `PGPASSWORD=${password} psql -h ${outside.host} -p ${outside.port} -U ${user} ${databaseName}`,
  }
}
