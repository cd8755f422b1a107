/** An invite is worth what its inviter may give when it is accepted: a right that ended takes the invites that rest on it along. */
import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import { holdsAll, type Permission } from '../../../shared/permission.ts'
import { findKey, type StoredKey } from '../api-keys/store.ts'
import type { IdentityContext } from '../context.ts'
import { refuseManyWorkspaces } from '../memberships/limit.ts'
import { findMembership, insertMember } from '../memberships/store.ts'
import { permissionsIn } from '../permissions/grant.ts'
import { permissionsWithin } from '../scopes/scope.ts'
import { hashToken } from '../tokens/token.ts'
import { findUserByEmail } from '../users/store.ts'
import { deleteInvite, findInviteByHash, type StoredInvite } from './store.ts'

type AcceptDeps = Pick<IdentityContext, 'db' | 'audit' | 'now'>

/** @throws AppError `not_found` for an unknown token, `conflict` for one that is over or whose inviter lost the right. */
export function requireInvite({ db, audit, now }: AcceptDeps, token: string): StoredInvite {
  const invite = findInviteByHash(db, hashToken(token))
  if (invite === undefined)
    throw new AppError('not_found', 'There is no such invite: it was accepted or taken back before, or the link is not complete.')
  if (invite.expiresAt <= now()) throw new AppError('conflict', 'The invite has expired. Ask for a new one.')
  if (!isBacked(db, invite, now())) {
    const { id, workspaceId, email, role } = invite
    db.transaction(() => {
      deleteInvite(db, id)
      audit.system({ event: 'invite.lapsed', workspaceId, target: id, metadata: { email, role, reason: 'the inviter lost the right' } })
    })()
    throw new AppError('conflict', 'Whoever sent the invite may not give this role any more. Ask an administrator for a new one.')
  }
  return invite
}

/** Belongs in a transaction. @throws AppError as `requireInvite`; `forbidden` for another user, `conflict` for a member. */
export function joinByInvite(deps: AcceptDeps, token: string, user: { id: string; email: string }): StoredInvite {
  const { db, now } = deps
  const invite = requireInvite(deps, token)
  // The database decides which addresses are the same.
  if (findUserByEmail(db, invite.email)?.id !== user.id)
    throw new AppError('forbidden', `The invite is for ${invite.email}, and you are ${user.email}. Log out, and open the link again.`)
  if (findMembership(db, user.id, invite.workspaceId) !== undefined)
    throw new AppError('conflict', 'You are a member of this workspace already.')
  refuseManyWorkspaces(db, user.id)
  deleteInvite(db, invite.id)
  const { workspaceId, role, scope } = invite
  insertMember(db, { workspaceId, userId: user.id, role, scope, createdAt: now() })
  return invite
}

function isBacked(db: Database, invite: StoredInvite, now: number): boolean {
  const granted = permissionsIn(db, invite.workspaceId, invite.role)
  if (granted.size === 0) return false
  if (invite.inviterType === 'static_token') return true
  const held = heldBy(db, invite, now)
  return held?.has('team.manage') === true && holdsAll(held, granted)
}

function heldBy(db: Database, { inviterType, inviterId, workspaceId }: StoredInvite, now: number): ReadonlySet<Permission> | undefined {
  const holder = inviterType === 'api_key' ? liveKey(db, { workspaceId, id: inviterId }, now) : findMembership(db, inviterId, workspaceId)
  return holder === undefined ? undefined : permissionsWithin(holder.scope, permissionsIn(db, workspaceId, holder.role))
}

function liveKey(db: Database, { workspaceId, id }: { workspaceId: string; id: string }, now: number): StoredKey | undefined {
  const key = findKey(db, workspaceId, id)
  return key === undefined || (key.expiresAt !== null && key.expiresAt <= now) ? undefined : key
}
