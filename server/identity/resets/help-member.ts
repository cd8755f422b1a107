import type { Database } from 'bun:sqlite'
import type { PasswordResetLink } from '../../../shared/account.ts'
import { AppError } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { deliver } from '../../platform/mail/deliver.ts'
import type { Mail } from '../../platform/mail/mailer.ts'
import type { IdentityContext } from '../context.ts'
import { findMembership } from '../memberships/store.ts'
import { permissionsIn, refuseEscalation } from '../permissions/grant.ts'
import { endSignIns } from '../sessions/end-access.ts'
import { hasTwoFactor, removeTwoFactor } from '../two-factor/store.ts'
import { findUser, type StoredUser } from '../users/store.ts'
import { resetMail, resetUrl } from './mail.ts'
import { type LinkWay, linkWayOf, refuseForeignTwoFactor } from './rules.ts'
import { createReset } from './store.ts'

type HelpContext = Pick<IdentityContext, 'db' | 'publicUrl' | 'mailer' | 'now'>

export interface MadeLink {
  user: StoredUser
  way: LinkWay
  url: string
  expiresAt: number
  mail: Mail
}

export function makeResetLink({ db, publicUrl, mailer, now }: HelpContext, actor: Actor, memberId: string): MadeLink {
  const { user, ...relation } = requireHelpable(db, actor, memberId)
  const way = linkWayOf({ ...relation, isMailConfigured: mailer.isConfigured })
  const { token, expiresAt } = createReset(db, { userId: user.id, way }, now())
  const url = resetUrl(publicUrl, token)
  const askedBy = actor.type === 'static_token' ? 'The operator of the server' : `An administrator (${actor.name})`
  return { user, way, url, expiresAt, mail: resetMail(user.email, { url, publicUrl, askedBy }) }
}

/** @throws AppError `unavailable` when nobody would have got the link. */
export async function deliverLink({ mailer, log }: Pick<IdentityContext, 'mailer' | 'log'>, link: MadeLink): Promise<PasswordResetLink> {
  const expiresAt = new Date(link.expiresAt).toISOString()
  if (link.way === 'shown') return { url: link.url, expiresAt, emailed: await deliver({ mailer, log }, link.mail) }
  await mailer.send(link.mail)
  return { expiresAt, emailed: true }
}

export function resetTwoFactor(db: Database, actor: Actor, memberId: string): StoredUser {
  const { user, ...relation } = requireHelpable(db, actor, memberId)
  refuseForeignTwoFactor(relation)
  if (!hasTwoFactor(db, user.id)) throw new AppError('conflict', 'This member has no two-factor sign-in: the password is enough.')
  removeTwoFactor(db, user.id)
  endSignIns(db, user.id)
  return user
}

/** @throws AppError `not_found` for who is no member, `forbidden` for one who may do more than the caller. */
function requireHelpable(
  db: Database,
  actor: Actor,
  memberId: string,
): { user: StoredUser; isOperator: boolean; isSelf: boolean; isElsewhere: boolean } {
  const isOperator = actor.type === 'static_token'
  const place = findMembership(db, memberId, actor.workspaceId)
  const isElsewhere = isInOtherWorkspace(db, memberId, actor.workspaceId)
  const user = findUser(db, memberId)
  if (user === undefined || (place === undefined && (!isOperator || isElsewhere))) {
    throw new AppError('not_found', 'There is no member with this id. GET /v1/team-members lists them.')
  }
  if (place !== undefined) refuseEscalation(actor, { name: place.role, permissions: permissionsIn(db, actor.workspaceId, place.role) })
  return { user, isOperator, isSelf: actor.type === 'user' && actor.id === user.id, isElsewhere }
}

const isInOtherWorkspace = (db: Database, userId: string, workspaceId: string): boolean =>
  db
    .query<{ found: 1 }, [string, string]>('SELECT 1 AS found FROM members WHERE user_id = ? AND workspace_id <> ? LIMIT 1')
    .get(userId, workspaceId) !== null
