import type { Postgres } from '../../shared/postgres.ts'
import { pollUntil } from '../api/poll.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

/** Waits until a database is there, or is not going to be; says what it is until then. @throws Interrupted on Ctrl-C. */
export async function untilAvailable(context: Context, database: Postgres): Promise<Postgres> {
  let told = ''
  return await pollUntil(database, {
    ask: () => context.client.call('getPostgres', { params: { postgresId: database.id } }),
    isOver: ({ status }) => ['available', 'suspended', 'recovery_failed'].includes(status),
    onSeen({ name, status }) {
      if (told !== status) context.note(clean`${name} is ${status} …`)
      told = status
    },
    interrupted: context.io.interrupted,
  })
}
