import type { DatastoreProperty, EnvValueInput } from '../../../shared/env.ts'
import { AppError, invalidValue } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { isProtected } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { requireDatastore } from '../datastores/require.ts'
import { type DatastoreKind, datastoreNamed, type StoredDatastore } from '../datastores/store.ts'
import { networkOf } from '../private-network/names/network.ts'
import type { DatastoreReference, EnvEntry } from '../services/env-store.ts'

export interface WantedReference {
  field: 'fromDatabase' | 'fromKeyValue' | 'fromService'
  kind: DatastoreKind
  id?: string
  name?: string
  property: DatastoreProperty
}

/** Finds what a variable is to refer to. @throws AppError where there is none, or the caller may not have it said there. */
export type Bind = (key: string, wanted: WantedReference, pointer: string) => DatastoreReference

/** Where the variables are, and what they refer to already: that may be sent again by whoever may set variables. */
interface Referring {
  /** Null for a group that services of several environments may be linked to. */
  environmentId: string | null
  isService?: true
  held?: readonly EnvEntry[]
}

const fields = [
  { field: 'fromDatabase', kind: 'postgres' },
  { field: 'fromKeyValue', kind: 'key_value' },
  { field: 'fromService', kind: 'key_value' },
] as const

/** The references that an input asks for; more than one is refused by who reads them. */
export const referencesIn = (input: EnvValueInput): WantedReference[] =>
  fields.flatMap(({ field, kind }) => {
    const wanted = input[field]
    return wanted === undefined ? [] : [{ field, kind, property: 'connectionString' as const, ...wanted }]
  })

export function binderFor(context: Pick<AppContext, 'db'>, actor: Actor, { environmentId, isService, held = [] }: Referring): Bind {
  return (key, wanted, pointer) => {
    const path = `${pointer}/${wanted.field}`
    const datastore = datastoreWanted(context, actor, wanted, path)
    const reference = { datastoreId: datastore.id, property: wanted.property }
    if (isHeld(held, key, reference)) return reference
    requireRights(context.db, actor, { datastore, environmentId })
    const { workspaceId } = actor
    if (isService && networkOf(context.db, { workspaceId, environmentId }) !== networkOf(context.db, datastore))
      throw invalidValue(
        path,
        `${key}: ${datastore.name} is in another network, as one of the two is in an isolated environment. Move them together, or end the isolation.`,
      )
    return reference
  }
}

function datastoreWanted({ db }: Pick<AppContext, 'db'>, actor: Actor, { kind, id, name }: WantedReference, path: string): StoredDatastore {
  const hasId = id !== undefined && id !== ''
  if (hasId) return requireDatastore({ db }, actor, id, kind)
  if (name === undefined) throw invalidValue(path, 'Say which by its id or its name.')
  const found = datastoreNamed(db, actor.workspaceId, { kind, name })
  // A name tells as little of what is out of scope as an id does.
  return requireDatastore({ db }, actor, found?.id ?? name, kind)
}

const isHeld = (held: readonly EnvEntry[], key: string, { datastoreId, property }: DatastoreReference): boolean =>
  held.some(({ from, ...entry }) => entry.key === key && from?.datastoreId === datastoreId && from.property === property)

/** Whoever deploys the service reads what it is told. */
function requireRights(
  db: AppContext['db'],
  { permissions }: Actor,
  { datastore, environmentId }: { datastore: StoredDatastore; environmentId: string | null },
): void {
  if (!permissions.has('datastores.credentials'))
    throw new AppError(
      'forbidden',
      `A variable that refers to ${datastore.name} tells how to connect to it, which needs the permission datastores.credentials.`,
    )
  if (datastore.environmentId === environmentId || !isProtected(db, datastore.environmentId)) return
  if (!permissions.has('environments.manage_protected'))
    throw new AppError(
      'forbidden',
      `${datastore.name} is in a protected environment: what refers to it from elsewhere needs the permission environments.manage_protected.`,
    )
}
