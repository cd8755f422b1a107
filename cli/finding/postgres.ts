import { isId } from '../../shared/id.ts'
import { nearest } from '../../shared/nearest.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'

/** The database of this name or id. @throws CliError naming the nearest when there is none. */
export async function resolvePostgres({ client }: Pick<Context, 'client'>, nameOrId: string): Promise<Postgres> {
  if (isId('postgres', nameOrId)) return await client.call('getPostgres', { params: { postgresId: nameOrId } })
  const all = await allPages((query) => client.call('listPostgres', { query }))
  const found = all.find(({ postgres }) => postgres.name === nameOrId)?.postgres
  if (found !== undefined) return found
  const names = all.map(({ postgres }) => postgres.name)
  const meant = nearest(nameOrId, names)
  const hint = meant === undefined ? 'cpctl postgres list shows them.' : `Did you mean ${meant}? cpctl postgres list shows all.`
  throw new CliError('not_found', `There is no database ${nameOrId}.`, { hint })
}
