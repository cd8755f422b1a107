import type { TSchema } from '@sinclair/typebox'
import type { BodyOf, Operation, ParamsOf, QueryOf } from '../../shared/operation.ts'
import { usageError } from '../base/error.ts'

interface Timing {
  signal?: AbortSignal
  timeoutMs?: number
}

type ParamsPart<O extends Operation> = O extends { params: TSchema } ? { params: ParamsOf<O> } : { params?: never }
type QueryPart<O extends Operation> = O extends { query: TSchema } ? { query?: QueryOf<O> } : { query?: never }
type BodyPart<O extends Operation> = O extends { body: TSchema }
  ? O extends { bodyOptional: true }
    ? { body?: BodyOf<O> }
    : { body: BodyOf<O> }
  : { body?: never }

/** What a call of one operation must be given, derived from its entry in the table. Of several, one for each: their product is too large. */
export type CallInput<O extends Operation> = O extends Operation ? ParamsPart<O> & QueryPart<O> & BodyPart<O> & Timing : never

export interface AnyInput extends Timing {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

/** Path and query of an operation's request. Arrays in the query become repeated parameters. */
export function pathOf(operation: Operation, { params = {}, query = {} }: Pick<AnyInput, 'params' | 'query'>): string {
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => pathSegment(String(params[name] ?? '')))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) search.append(name, String(item))
    }
  }
  return search.size === 0 ? path : `${path}?${search}`
}

/** `.` and `..` would be resolved away by URL parsers, and an empty one would name another route. */
function pathSegment(value: string): string {
  if (value === '' || value === '.' || value === '..') throw usageError(`"${value}" is not a name or id.`)
  return encodeURIComponent(value)
}
