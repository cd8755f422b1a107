import type { EnvVar, EnvVarInput } from '../../shared/env.ts'
import type { KeyValue, KeyValueCreate } from '../../shared/key-value.ts'
import type { Postgres, PostgresCreate } from '../../shared/postgres.ts'
import { usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { nameOfCopy, type Renaming } from './names.ts'

export type Datastore = { kind: 'postgres'; of: Postgres } | { kind: 'key_value'; of: KeyValue }

export interface PlannedDatastore {
  original: Datastore
  name: string
  existing: Datastore | undefined
}

/** Which datastores copies of variables refer to: the copies of `copied`, and all others where they keep those. */
export interface References {
  copied: ReadonlySet<string>
  keepsOthers: boolean
}

export const nounOf = ({ kind }: Datastore): string => (kind === 'postgres' ? 'database' : 'key-value store')

interface DatastoreInput {
  datastores: readonly Datastore[]
  renaming: Renaming
}

/** @throws CliError when the name of the copy belongs to a datastore elsewhere. */
export function planDatastore(
  original: Datastore,
  target: { id: string } | undefined,
  { datastores, renaming }: DatastoreInput,
): PlannedDatastore {
  const name = nameOfCopy(original.of.name, renaming)
  const existing = datastores.find(({ of }) => of.name === name)
  const isThere = existing === undefined || (existing.kind === original.kind && existing.of.environmentId === target?.id)
  if (!isThere || (existing !== undefined && target === undefined))
    throw usageError(
      `The copy of the ${nounOf(original)} ${original.of.name} would be named ${name}, as a database or key-value store elsewhere is.`,
      `Choose its name with --name ${original.of.name}=<name>.`,
    )
  return { original, name, existing }
}

type PostgresPlan = NonNullable<PostgresCreate['plan']>
type KeyValuePlan = NonNullable<KeyValueCreate['plan']>

/** An empty one with the settings of another; its users are its own. */
export function postgresLike(of: Postgres, name: string, environmentId: string): PostgresCreate {
  const { plan, version, databaseName, diskSizeGB, diskAutoscalingEnabled, connectionPool, ipAllowList, parameterOverrides } = of
  return {
    ...{ name, environmentId, version, databaseName, diskSizeGB, ipAllowList, connectionPool },
    plan: plan as PostgresPlan,
    enableDiskAutoscaling: diskAutoscalingEnabled,
    ...present({ parameterOverrides }),
  }
}

export const keyValueLike = ({ plan, options, ipAllowList }: KeyValue, name: string, environmentId: string): KeyValueCreate => ({
  ...{ name, environmentId, ipAllowList },
  ...options,
  plan: plan as KeyValuePlan,
})

type Reference = Pick<EnvVar, 'fromDatabase' | 'fromKeyValue'>

/** The id of what a variable refers to, if it does. */
export const referredBy = ({ fromDatabase, fromKeyValue }: Reference): string | undefined => (fromDatabase ?? fromKeyValue)?.id

/** Whether a copy of the variable says something by itself, be it without the value of the original. */
export function isTold(variable: Reference, { copied, keepsOthers }: References): boolean {
  const id = referredBy(variable)
  return id !== undefined && (keepsOthers || copied.has(id))
}

interface Secrets {
  envVars: readonly EnvVar[]
  secretFiles: readonly { name: string }[]
}

/** Names of the variables and secret files that a copy has empty. */
export const missingOf = (
  { envVars, secretFiles }: Secrets,
  { isWithValues, references }: { isWithValues: boolean; references: References },
): string[] => [
  ...envVars
    .filter((variable) => (referredBy(variable) === undefined ? !isWithValues : !isTold(variable, references)))
    .map(({ key }) => key),
  ...(isWithValues ? [] : secretFiles.map(({ name }) => name)),
]

interface Copying {
  /** Names of variables that are left empty. */
  missing: readonly string[]
  ids: ReadonlyMap<string, string>
}

export function copyOfVariable(variable: EnvVar, { missing, ids }: Copying): EnvVarInput {
  const { key, value, interpolate, fromDatabase, fromKeyValue } = variable
  if (missing.includes(key)) return { key, value: '', ...(interpolate && { interpolate }) }
  const idOf = ({ id }: { id: string }) => ids.get(id) ?? id
  if (fromDatabase !== undefined) return { key, fromDatabase: { id: idOf(fromDatabase), property: fromDatabase.property } }
  if (fromKeyValue !== undefined) return { key, fromKeyValue: { id: idOf(fromKeyValue), property: fromKeyValue.property } }
  return { key, value, ...(interpolate && { interpolate }) }
}
