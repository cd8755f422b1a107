/**
 * A cluster is made by a server without a postmaster, which numbers what it makes below 16384, where PostgreSQL takes everything for its own:
 * pg_dump leaves extensions with such numbers out, and pg_upgrade fails at what is left of them. They are made anew before.
 */
import { SQL } from 'bun'
import { AppError } from '../../../../shared/error.ts'
import type { PostgresConnection } from '../../../platform/postgres/connect.ts'
import type { AppContext } from '../../context.ts'
import type { ServerEndpoint } from '../../datastores/kind.ts'
import { asAdmin } from '../session.ts'
import { quoteName } from '../sql.ts'

/** FirstNormalObjectId of src/include/access/transam.h. */
const FIRST_NORMAL = 16_384

const MADE_EARLY = `SELECT e.extname AS name, n.nspname AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
  WHERE e.oid < ${FIRST_NORMAL} AND e.extname <> 'plpgsql'`

/** Repeatable. @throws AppError conflict where something that a tenant made needs them; whatever else refuses. */
export async function renewOldExtensions(context: AppContext, place: { id: string; endpoint: ServerEndpoint }): Promise<void> {
  const names = await asAdmin(context, place, (sql) => sql.run('SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate'))
  for (const { datname } of names) {
    const database = String(datname)
    await asAdmin(context, { ...place, database }, async (sql) => {
      for (const { name, schema } of await sql.run(MADE_EARLY)) await renew(sql, { database, name: String(name), schema: String(schema) })
    })
  }
}

/** Two statements that are sent together are one transaction. */
async function renew(sql: PostgresConnection, { database, name, schema }: Record<'database' | 'name' | 'schema', string>): Promise<void> {
  try {
    await sql.run(`DROP EXTENSION ${quoteName(name)}; CREATE EXTENSION ${quoteName(name)} WITH SCHEMA ${quoteName(schema)}`)
  } catch (error) {
    if (!(error instanceof SQL.PostgresError) || error.detail === undefined) throw error
    throw new AppError(
      'conflict',
      `The extension ${name} of ${database} has to be made anew for it, which something prevents: ${error.detail}.`,
    )
  }
}
