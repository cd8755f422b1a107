import type { Database } from 'bun:sqlite'
import { holdsAll, type Permission } from '../../../shared/permission.ts'
import { findMembership } from '../memberships/store.ts'
import { permissionsIn } from '../permissions/grant.ts'
import { isWithin, permissionsWithin, type ServiceScope } from '../scopes/scope.ts'
import { deleteKey, listKeys, type StoredKey } from './store.ts'

export interface Reach {
  permissions: ReadonlySet<Permission>
  scope: ServiceScope
}

export function exceeds(key: Reach, maker: Reach): boolean {
  const isWider = maker.scope !== undefined && (key.scope === undefined || [...key.scope].some((id) => !isWithin(maker.scope, id)))
  return isWider || !holdsAll(effective(maker), effective(key))
}

const effective = ({ permissions, scope }: Reach): ReadonlySet<Permission> => permissionsWithin(scope, permissions)

/** Revokes the keys of a member that may do more than the member may now, and gives them. Belongs in the transaction of the change. */
export function revokeKeysBeyond(db: Database, workspaceId: string, userId: string): StoredKey[] {
  const place = findMembership(db, userId, workspaceId)
  if (place === undefined) return []
  const reach = ({ role, scope }: { role: string; scope: ServiceScope }): Reach => ({
    permissions: permissionsIn(db, workspaceId, role),
    scope,
  })
  const keys = listKeys(db, workspaceId).filter((key) => key.createdBy === userId && exceeds(reach(key), reach(place)))
  for (const { id } of keys) deleteKey(db, workspaceId, id)
  return keys
}
