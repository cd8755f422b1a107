/** Each change looks and writes in one transaction, so two at once cannot each take the other for the administrator who stays. */
import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import type { TeamMemberPatch } from '../../../shared/team.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { revokeKeysBeyond } from '../api-keys/reach.ts'
import type { StoredKey } from '../api-keys/store.ts'
import { permissionsIn, refuseEscalation, requireRole } from '../permissions/grant.ts'
import { requireScope } from '../scopes/store.ts'
import { endAccess } from '../sessions/end-access.ts'
import { type Revoked, revokeMadeBy } from './revoke.ts'
import { countAdministrators, deleteMember, findMember, type StoredMember, updateMember } from './store.ts'

export function requireMember(db: Database, workspaceId: string, userId: string): StoredMember {
  const member = findMember(db, workspaceId, userId)
  if (member === undefined)
    throw new AppError('not_found', `There is no member ${userId} in this workspace. GET /v1/team-members lists those there are.`)
  return member
}

export interface ChangedMember {
  member: StoredMember
  revokedKeys: readonly StoredKey[]
}

/** @throws AppError `forbidden` for a member, or a role, that may do more than the caller; `conflict` for the last administrator. */
export function changeMember(db: Database, actor: Actor, { userId, patch }: { userId: string; patch: TeamMemberPatch }): ChangedMember {
  const { workspaceId } = actor
  const member = requireMember(db, workspaceId, userId)
  refuseHigher(db, actor, member)
  const role = patch.role === undefined ? member.role : grantedRole(db, actor, patch.role)
  const scope = patch.scope === undefined ? member.scope : requireScope(db, workspaceId, patch.scope)
  const changed = { ...member, role, scope }
  if (!isAdministrator(changed)) refuseLastAdministrator(db, workspaceId, member)
  updateMember(db, workspaceId, changed)
  return { member: changed, revokedKeys: revokeKeysBeyond(db, workspaceId, userId) }
}

/** All sessions of the member end, wherever they are used. @throws AppError as `changeMember`. */
export function removeMember(db: Database, actor: Actor, userId: string): Revoked {
  const member = requireMember(db, actor.workspaceId, userId)
  refuseHigher(db, actor, member)
  const revoked = takeOut(db, actor.workspaceId, member)
  endAccess(db, userId)
  return revoked
}

/** Sessions stay, for other workspaces and for invites. @throws AppError `forbidden` for keys and tokens, `conflict` as `changeMember`. */
export function leave(db: Database, actor: Actor): Revoked {
  if (actor.type !== 'user') throw new AppError('forbidden', 'An API key or token is no member of the workspace. Log in to leave it.')
  return takeOut(db, actor.workspaceId, requireMember(db, actor.workspaceId, actor.id))
}

function takeOut(db: Database, workspaceId: string, member: StoredMember): Revoked {
  refuseLastAdministrator(db, workspaceId, member)
  deleteMember(db, workspaceId, member.userId)
  return revokeMadeBy(db, workspaceId, member.userId)
}

function grantedRole(db: Database, actor: Actor, name: string): string {
  const role = requireRole(db, actor.workspaceId, name)
  refuseEscalation(actor, role)
  return role.name
}

function refuseHigher(db: Database, actor: Actor, { role }: StoredMember): void {
  refuseEscalation(actor, { name: role, permissions: permissionsIn(db, actor.workspaceId, role) })
}

const isAdministrator = ({ role, scope }: Pick<StoredMember, 'role' | 'scope'>): boolean => role === 'admin' && scope === undefined

function refuseLastAdministrator(db: Database, workspaceId: string, member: StoredMember): void {
  if (!isAdministrator(member) || countAdministrators(db, workspaceId) > 1) return
  throw new AppError(
    'conflict',
    `${member.email} is the last administrator of the workspace. Make somebody else an administrator first, or delete the workspace.`,
  )
}
