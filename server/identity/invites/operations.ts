import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import { INVITE_DAYS, type TeamInviteCreate } from '../../../shared/team.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { newId } from '../../platform/id.ts'
import type { Mail } from '../../platform/mail/mailer.ts'
import type { IdentityContext } from '../context.ts'
import { permissionsIn, refuseEscalation, requireRole } from '../permissions/grant.ts'
import { requireScope } from '../scopes/store.ts'
import { isMemberAddress } from '../team/store.ts'
import { hashToken, newToken } from '../tokens/token.ts'
import { deleteInvite, findInvite, findInviteTo, insertInvite, type StoredInvite } from './store.ts'

const INVITE_MS = INVITE_DAYS * 24 * 3600 * 1000

export interface NewInvite {
  invite: StoredInvite
  token: string
}

/** Belongs in a transaction. @throws AppError `conflict` for a member or an earlier invite, `forbidden` beyond the caller's role. */
export function createInvite(context: Pick<IdentityContext, 'db' | 'now'>, inviter: Actor, wanted: TeamInviteCreate): NewInvite {
  const { db } = context
  const now = context.now()
  const { workspaceId } = inviter
  const role = requireRole(db, workspaceId, wanted.role)
  refuseEscalation(inviter, role)
  const scope = requireScope(db, workspaceId, wanted.scope)
  if (isMemberAddress(db, workspaceId, wanted.email))
    throw new AppError(
      'conflict',
      `${wanted.email} is a member already. Change their role or scope instead: cpctl team, or PATCH /v1/team-members/{id}.`,
    )
  makeRoom(db, { workspaceId, email: wanted.email }, now)
  const token = newToken()
  const invite: StoredInvite = {
    id: newId('invite', now),
    workspaceId,
    email: wanted.email,
    role: role.name,
    scope,
    inviterType: inviter.type,
    inviterId: inviter.id,
    createdAt: now,
    expiresAt: now + INVITE_MS,
  }
  insertInvite(db, { ...invite, tokenHash: hashToken(token) })
  return { invite, token }
}

function makeRoom(db: Database, { workspaceId, email }: { workspaceId: string; email: string }, now: number): void {
  const earlier = findInviteTo(db, workspaceId, email)
  if (earlier === undefined) return
  if (earlier.expiresAt > now)
    throw new AppError(
      'conflict',
      `${earlier.email} has been invited already (${earlier.id}). Delete that invite first if they are to get another link.`,
    )
  deleteInvite(db, earlier.id)
}

/** @throws AppError `not_found`, or `forbidden` for a role that may do more than the caller. */
export function withdrawInvite(db: Database, actor: Actor, id: string): StoredInvite {
  const invite = findInvite(db, actor.workspaceId, id)
  if (invite === undefined)
    throw new AppError('not_found', `There is no invite ${id} in this workspace. GET /v1/team-invites lists those there are.`)
  refuseEscalation(actor, { name: invite.role, permissions: permissionsIn(db, actor.workspaceId, invite.role) })
  deleteInvite(db, id)
  return invite
}

export function inviteMail(
  { email, expiresAt }: StoredInvite,
  { inviter, workspace, url }: Record<'inviter' | 'workspace' | 'url', string>,
): Mail {
  const text = [
    `${inviter} invites you to the workspace "${workspace}".`,
    `Open this link to accept:`,
    url,
    `It is good for ${INVITE_DAYS} days, until ${new Date(expiresAt).toUTCString()}, once, and for ${email} only.`,
    'If you did not expect this mail, do nothing.',
  ]
  return { to: email, subject: `Invitation to ${workspace}`, text: `${text.join('\n\n')}\n` }
}
