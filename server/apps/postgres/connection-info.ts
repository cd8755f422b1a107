import { AppError } from '../../../shared/error.ts'
import type { PostgresConnectionInfo } from '../../../shared/postgres.ts'
import type { AppContext } from '../context.ts'
import { handedOut } from '../datastores/credential-store.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { postgresById } from './store.ts'

/** How a database is connected to; what is from outside is empty where this server has no way in. @throws AppError not_found for one that goes. */
export function connectionInfo({ db, sealer }: AppContext, { id }: Pick<StoredDatastore, 'id'>): PostgresConnectionInfo {
  const [own, credential] = [postgresById(db, id), handedOut(db, sealer, id)]
  if (own === undefined || credential === undefined) throw new AppError('not_found', `There is no database ${id} any more.`)
  const { user, password } = credential
  return {
    password,
    internalConnectionString: `postgresql://${user}:${password}@${id}/${own.databaseName}`,
    externalConnectionString: '',
    psqlCommand: '',
  }
}
