import type { TSchema } from '@sinclair/typebox'
import { type OperationId, operationOf } from '../../../shared/operations/all.ts'

/** A place in a query or body that holds the id of something. */
export interface NamedId {
  place: 'query' | 'body'
  /** Keys from the outermost on; items of arrays are not named. */
  path: readonly string[]
}

/** How fields are called that hold ids, or lists of them. */
const idField = /(?:Id|Ids|^resource|^service|snapshotKey)$/

/** Every place of an operation's query and body that holds ids, whoever added it. */
export function namedIdsOf(id: OperationId): NamedId[] {
  const { query, body } = operationOf(id)
  const inQuery = Object.keys(query?.properties ?? {}).filter((name) => idField.test(name))
  return [
    ...inQuery.map((name): NamedId => ({ place: 'query', path: [name] })),
    ...(body === undefined ? [] : pathsIn(body, [])).map((path): NamedId => ({ place: 'body', path })),
  ]
}

function pathsIn(schema: TSchema, path: readonly string[]): string[][] {
  // Accepted only while it holds nothing.
  if (schema['x-unsupported'] === true) return []
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as TSchema[]).flatMap((one) => pathsIn(one, path))
  const items = schema.items as TSchema | undefined
  if (schema.type === 'array' && items !== undefined && items.type === 'object') return pathsIn(items, path)
  const last = path.at(-1) ?? ''
  if (schema.type !== 'object') return idField.test(last) ? [[...path]] : []
  return Object.entries((schema.properties ?? {}) as Record<string, TSchema>).flatMap(([key, one]) => pathsIn(one, [...path, key]))
}
