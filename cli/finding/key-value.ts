import { isId } from '../../shared/id.ts'
import type { KeyValue } from '../../shared/key-value.ts'
import { nearest } from '../../shared/nearest.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'

/** The key-value store of this name or id. @throws CliError naming the nearest when there is none. */
export async function resolveKeyValue({ client }: Pick<Context, 'client'>, nameOrId: string): Promise<KeyValue> {
  if (isId('keyValue', nameOrId)) return await client.call('getKeyValue', { params: { keyValueId: nameOrId } })
  // A comma separates values of a filter, so a name that holds one has to be looked for among all.
  const filter = nameOrId.includes(',') ? {} : { name: [nameOrId] }
  const found = await allPages((query) => client.call('listKeyValue', { query: { ...query, ...filter } }))
  const store = found.find(({ keyValue }) => keyValue.name === nameOrId)?.keyValue
  if (store !== undefined) return store
  const all = await allPages((query) => client.call('listKeyValue', { query }))
  const meant = nearest(
    nameOrId,
    all.map(({ keyValue }) => keyValue.name),
  )
  const hint = meant === undefined ? 'cpctl kv list shows them.' : `Did you mean ${meant}? cpctl kv list shows all.`
  throw new CliError('not_found', `There is no key-value store ${nameOrId}.`, { hint })
}
