import { databaseProperties, type EnvValueInput, keyValueProperties } from '../../shared/env.ts'
import { isId } from '../../shared/id.ts'
import { usageError } from '../base/error.ts'
import type { OfService } from '../finding/service.ts'

export interface ReferenceOptions {
  fromPostgres?: string
  fromKv?: string
  property?: string
}

export const isReference = ({ fromPostgres, fromKv, property }: ReferenceOptions): boolean =>
  fromPostgres !== undefined || fromKv !== undefined || property !== undefined

const KEY = /^[A-Z_][A-Z0-9_]*$/

/** The one variable among the words, or that which is usual. @throws CliError for words beyond it. */
export function keyOfReference(words: readonly string[], options: ReferenceOptions): string {
  const [key = usualKey(options), ...more] = words
  if (more.length > 0 || !/^[A-Za-z_]\w*$/.test(key)) throw usageError('Name one variable without a value, such as DATABASE_URL.')
  return key
}

const usualKey = ({ fromKv }: ReferenceOptions): string => (fromKv === undefined ? 'DATABASE_URL' : 'REDIS_URL')

/** The service and the variable among the words, each of which may be left out. @throws CliError for words beyond those. */
export function wordsOfReference(
  words: readonly string[],
  options: ReferenceOptions & OfService,
): { service: string | undefined; key: string } {
  const key = words.find((word) => KEY.test(word)) ?? usualKey(options)
  const [service, ...more] = words.filter((word) => word !== key)
  if (more.length > 0 || service?.includes('=')) throw usageError('Name one variable without a value, and at most the service before it.')
  return { service, key }
}

/** @throws CliError unless exactly one datastore is named, with something that it has. */
export function referenceOf({ fromPostgres, fromKv, property = 'connectionString' }: ReferenceOptions): EnvValueInput {
  if (fromPostgres !== undefined && fromKv !== undefined) throw usageError('Give --from-postgres or --from-kv, not both.')
  if (fromPostgres !== undefined)
    return { fromDatabase: { ...named('postgres', fromPostgres), property: oneOf(databaseProperties, property) } }
  if (fromKv !== undefined) return { fromKeyValue: { ...named('keyValue', fromKv), property: oneOf(keyValueProperties, property) } }
  throw usageError('--property says what of a database: name that by --from-postgres or --from-kv.')
}

const named = (kind: 'postgres' | 'keyValue', value: string): { id?: string; name?: string } =>
  isId(kind, value) ? { id: value } : { name: value }

function oneOf<const T extends string>(names: readonly T[], given: string): T {
  const found = names.find((name) => name === given)
  if (found === undefined) throw usageError(`--property is one of ${names.join(', ')}.`)
  return found
}
