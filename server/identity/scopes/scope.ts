import { isId } from '../../../shared/id.ts'
import type { Permission } from '../../../shared/permission.ts'
import { workspaceWide } from '../../../shared/permission.ts'
import type { Scope } from '../../../shared/scope.ts'
import type { ActorScope } from '../../http/handlers/call.ts'
import type { Codec } from '../../platform/db/codec.ts'
import { texts } from '../../platform/db/json-column.ts'
import { memo } from '../../platform/memo.ts'

/** What somebody is confined to, as it is named and kept; undefined is the whole workspace, and empty sets are nothing at all. */
export type NamedScope = Omit<ActorScope, 'reach'> | undefined

export interface Placed {
  id: string
  environmentId: string | null
}

const REMEMBERED_SCOPES = 2000

/** Ids of all kinds stand in one list: each says by its form what it is. */
const idsIn = memo((text: string): NonNullable<NamedScope> => sorted(texts.read(text)), REMEMBERED_SCOPES)

function sorted(ids: readonly string[]): NonNullable<NamedScope> {
  const environmentIds = new Set(ids.filter((id) => isId('environment', id)))
  const projectIds = new Set(ids.filter((id) => isId('project', id)))
  return { serviceIds: new Set(ids.filter((id) => !environmentIds.has(id) && !projectIds.has(id))), environmentIds, projectIds }
}

export const scopeColumn: Codec<NamedScope> = {
  read: (stored) => (stored === null ? undefined : idsIn(String(stored))),
  write: (scope) => (scope === undefined ? null : JSON.stringify([...scope.serviceIds, ...scope.environmentIds, ...scope.projectIds])),
}

export function presentScope(scope: NamedScope): Scope {
  if (scope === undefined) return null
  const { serviceIds, environmentIds, projectIds } = scope
  return {
    serviceIds: [...serviceIds],
    ...(environmentIds.size > 0 && { environmentIds: [...environmentIds] }),
    ...(projectIds.size > 0 && { projectIds: [...projectIds] }),
  }
}

/** A service is within when it is named itself, or the environment that it is in now. */
export const isWithin = (scope: ActorScope | undefined, { id, environmentId }: Placed): boolean =>
  scope === undefined || scope.serviceIds.has(id) || (environmentId !== null && scope.reach.has(environmentId))

/** Whether a caller may touch what is in this environment as such; null is outside of all, where only the unconfined may. */
export const isEnvironmentWithin = (scope: ActorScope | undefined, environmentId: string | null): boolean =>
  scope === undefined || (environmentId !== null && scope.reach.has(environmentId))

export const permissionsWithin = (scope: NamedScope, permissions: ReadonlySet<Permission>): ReadonlySet<Permission> => {
  if (scope === undefined) return permissions
  return scope.environmentIds.size + scope.projectIds.size > 0 ? inPlaces(permissions) : inServices(permissions)
}

const creations: ReadonlySet<Permission> = new Set(['services.create', 'datastores.create'])

/** Who is confined to environments can be let create in them. */
const inPlaces = confinedTo((permission) => creations.has(permission) || !workspaceWide.has(permission))
const inServices = confinedTo((permission) => !workspaceWide.has(permission))

/** Sets are shared by everyone with the role, so each is worked out once. */
function confinedTo(isKept: (permission: Permission) => boolean): (permissions: ReadonlySet<Permission>) => ReadonlySet<Permission> {
  const known = new WeakMap<ReadonlySet<Permission>, ReadonlySet<Permission>>()
  return (permissions) => {
    const before = known.get(permissions)
    if (before !== undefined) return before
    const left: ReadonlySet<Permission> = new Set([...permissions].filter(isKept))
    known.set(permissions, left)
    return left
  }
}
