import type { Database } from 'bun:sqlite'
import { holdsAll, type Permission } from '../../../shared/permission.ts'
import type { ActorScope } from '../../http/handlers/call.ts'
import { findMembership } from '../memberships/store.ts'
import { permissionsIn } from '../permissions/grant.ts'
import { isScopeWithin, reachOf } from '../scopes/reach.ts'
import { type NamedScope, permissionsWithin } from '../scopes/scope.ts'
import { deleteKey, listKeys, type StoredKey } from './store.ts'

export interface Reach {
  permissions: ReadonlySet<Permission>
  scope: ActorScope | undefined
}

/** Whether a key may do more than its maker, now or after something is moved. */
export const exceeds = (key: Reach, maker: Reach): boolean =>
  !isScopeWithin(key.scope, maker.scope) || !holdsAll(effective(maker), effective(key))

const effective = ({ permissions, scope }: Reach): ReadonlySet<Permission> => permissionsWithin(scope, permissions)

/** Revokes the keys of a member that may do more than the member may now, and gives them. Belongs in the transaction of the change. */
export function revokeKeysBeyond(db: Database, workspaceId: string, userId: string): StoredKey[] {
  const place = findMembership(db, userId, workspaceId)
  if (place === undefined) return []
  const reach = ({ role, scope }: { role: string; scope: NamedScope }): Reach => ({
    permissions: permissionsIn(db, workspaceId, role),
    scope: reachOf(db, scope),
  })
  const keys = listKeys(db, workspaceId).filter((key) => key.createdBy === userId && exceeds(reach(key), reach(place)))
  for (const { id } of keys) deleteKey(db, workspaceId, id)
  return keys
}
