import { AppError } from '../../../shared/error.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { type AuditFacts, answer, type Handlers } from '../../http/handlers/call.ts'
import { deliver } from '../../platform/mail/deliver.ts'
import type { Mail } from '../../platform/mail/mailer.ts'
import type { IdentityContext } from '../context.ts'
import { listWorkspacesOf } from '../memberships/store.ts'
import { hashPassword } from '../passwords/password.ts'
import { endAccess } from '../sessions/end-access.ts'
import { forgivenByReset, proofCountersOf } from '../throttle/login-counters.ts'
import { createThrottle } from '../throttle/throttle.ts'
import { doubtEmail, proveEmailByLink } from '../users/email-proof.ts'
import { findUser, findUserByEmail, type StoredUser, setPasswordHash } from '../users/store.ts'
import { deliverLink, makeResetLink, resetTwoFactor } from './help-member.ts'
import { resetMail, resetUrl } from './mail.ts'
import { createReset, findReset, wasMailed } from './store.ts'

type ResetIds = Extract<keyof Operations, 'requestPasswordReset' | 'confirmPasswordReset' | 'resetMemberPassword' | 'resetMemberTwoFactor'>

const RESET_LIMIT = 5
/** Longer than anything that happens for an account that exists, so that the time tells nothing. The mail goes out afterwards. */
const ANSWER_AFTER_MS = 250

const onItsWay =
  'If there is an account with this e-mail address, a link to set a new password is on its way there. It is good for an hour.'
const noMail =
  'This server sends no mail. Ask an administrator of your workspace for a link to set a new password (cpctl team reset-password), or the operator of the server.'

export function createResetRoutes({ now }: Pick<IdentityContext, 'now'>): Handlers<ResetIds, IdentityContext> {
  const requests = createThrottle(RESET_LIMIT, now, 'Too many links were asked for.')
  return {
    async requestPasswordReset({ body, clientAddress, change, note }, context) {
      requests.begin(proofCountersOf(body.email, clientAddress))
      const answered = Bun.sleep(ANSWER_AFTER_MS)
      const mail = change(() => {
        const prepared = context.mailer.isConfigured ? prepareMail(context, body.email) : undefined
        note(prepared === undefined ? { isUnchanged: true } : prepared.facts)
        return prepared?.mail
      })
      await answered
      // Not waited for: how long the mail server takes would tell that there is an account.
      if (mail !== undefined) void deliver(context, mail)
      return answer(202, { message: context.mailer.isConfigured ? onItsWay : noMail })
    },
    async confirmPasswordReset({ body, clientAddress, change, note }, { db, logins, now: present }) {
      // Only who shows a token makes us work.
      requireReset(db, body.token, present())
      const passwordHash = await hashPassword(body.password)
      const user = change(() => {
        const owner = requireReset(db, body.token, present())
        setPasswordHash(db, owner.id, passwordHash)
        if (wasMailed(db, body.token)) proveEmailByLink(db, owner.id, present())
        else doubtEmail(db, owner.id)
        endAccess(db, owner.id)
        note({ actor: { type: 'user', id: owner.id, email: owner.email }, target: owner.id })
        return owner
      })
      for (const counter of forgivenByReset(user.email, clientAddress)) logins.reset(counter)
      return answer(204, undefined)
    },
    async resetMemberPassword({ actor, params, change, note }, context) {
      const link = change(() => {
        const made = makeResetLink(context, actor, params.memberId)
        note({ target: made.user.id, metadata: { email: made.user.email, link: made.way } })
        return made
      })
      return answer(201, await deliverLink(context, link))
    },
    resetMemberTwoFactor({ actor, params, note }, { db }) {
      const user = resetTwoFactor(db, actor, params.memberId)
      note({ target: user.id, metadata: { email: user.email } })
      return answer(204, undefined)
    },
  }
}

/** Anybody may have asked, so the logs tell of whom and not by whom. */
function prepareMail({ db, publicUrl, now }: IdentityContext, email: string): { mail: Mail; facts: AuditFacts } | undefined {
  const user = findUserByEmail(db, email)
  if (user === undefined) return undefined
  const url = resetUrl(publicUrl, createReset(db, { userId: user.id, way: 'mailed' }, now()).token)
  return {
    mail: resetMail(user.email, { url, publicUrl, askedBy: 'Somebody, perhaps you,' }),
    facts: { target: user.id, workspaceIds: listWorkspacesOf(db, user.id).map(({ id }) => id) },
  }
}

function requireReset(db: IdentityContext['db'], token: string, now: number): StoredUser {
  const userId = findReset(db, token, now)
  const user = userId === undefined ? undefined : findUser(db, userId)
  if (user === undefined) throw new AppError('not_found', 'This link is unknown, expired, or was used before. Ask for a new one.')
  return user
}
