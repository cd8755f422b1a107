import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError } from '../../../../shared/error.ts'
import type { PostgresConnection } from '../../../platform/postgres/connect.ts'
import type { AppContext } from '../../context.ts'
import { handedOut } from '../../datastores/credential-store.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { answered, asAdmin, inSession, ownOf, requireEndpoint } from '../session.ts'

type Asking<T> = (sql: PostgresConnection) => Promise<T>

/** Asks as the superuser in the tenant's database, who gets in when all places are taken. Nothing but pg_catalog may be asked for. @throws AppError conflict while it does not run, unavailable without an answer. */
export async function askServer<T>(context: AppContext, datastore: StoredDatastore, ask: Asking<T>): Promise<T> {
  const endpoint = requireEndpoint(context, datastore)
  const { databaseName: database } = ownOf(context, datastore)
  return await answered(context, datastore.id, () => asAdmin(context, { id: datastore.id, endpoint, database }, ask))
}

/** Asks as the tenant, in the tenant's database: what is there may have been put there to be called by somebody with more rights. */
export async function askAsTenant<T>(context: AppContext, datastore: StoredDatastore, ask: Asking<T>): Promise<T> {
  const endpoint = requireEndpoint(context, datastore)
  const { databaseName: database } = ownOf(context, datastore)
  const credential = handedOut(context.db, context.sealer, datastore.id)
  if (credential === undefined) throw new AppError('not_found', `There is no database ${datastore.id} any more.`)
  return await answered(context, datastore.id, () => inSession(context, { ...endpoint, ...credential, database }, ask))
}

/** Rows that a statement gives as JSON in `found`. @throws Error for others than those of the shape. */
export async function rowsOf<T extends TSchema>(sql: PostgresConnection, text: string, schema: T): Promise<Static<T>[]> {
  const found = (await sql.run(text))[0]?.found
  const rows: unknown = typeof found === 'string' ? JSON.parse(found) : (found ?? [])
  if (!Array.isArray(rows) || !rows.every((row) => Value.Check(schema, row)))
    throw new Error('A server answered with rows of another shape')
  return rows as Static<T>[]
}
