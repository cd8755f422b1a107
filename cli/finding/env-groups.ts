import type { EnvGroup } from '../../shared/env-group.ts'
import { isId } from '../../shared/id.ts'
import { nearest } from '../../shared/nearest.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'

/** The group of this name or id. @throws CliError naming the nearest when there is none. */
export async function resolveGroup({ client }: Pick<Context, 'client'>, nameOrId: string): Promise<EnvGroup> {
  if (isId('envGroup', nameOrId)) return await client.call('getEnvGroup', { params: { envGroupId: nameOrId } })
  // A comma separates values of a filter, so a name that holds one has to be looked for among all.
  const filter = nameOrId.includes(',') ? {} : { name: [nameOrId] }
  const found = await allPages((query) => client.call('listEnvGroups', { query: { ...query, ...filter } }))
  const group = found.find(({ envGroup }) => envGroup.name === nameOrId)?.envGroup
  // A list leaves out contents of secret files, and a group is small.
  if (group !== undefined) return await client.call('getEnvGroup', { params: { envGroupId: group.id } })
  const all = await allPages((query) => client.call('listEnvGroups', { query }))
  const names = all.map(({ envGroup }) => envGroup.name)
  const meant = nearest(nameOrId, names)
  const hint = meant === undefined ? 'cpctl env-groups list shows them.' : `Did you mean ${meant}? cpctl env-groups list shows all.`
  throw new CliError('not_found', `There is no env group ${nameOrId}.`, { hint })
}
