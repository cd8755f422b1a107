import type { Postgres } from '../../shared/postgres.ts'
import { untilOver } from '../datastores/until-over.ts'
import type { Context } from '../session/context.ts'

/** Waits until a database is there, or is not going to be; says what it is until then. @throws Interrupted on Ctrl-C. */
export const untilAvailable = (context: Context, database: Postgres): Promise<Postgres> =>
  untilOver(context, database, () => context.client.call('getPostgres', { params: { postgresId: database.id } }))
