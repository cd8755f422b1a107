import { invitePathOf } from '../../../shared/invite-token.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import { type Actor, answer, type Handlers } from '../../http/handlers/call.ts'
import { deliver } from '../../platform/mail/deliver.ts'
import type { IdentityContext } from '../context.ts'
import { findWorkspace } from '../memberships/store.ts'
import { withinQuotas } from '../quotas/enforce.ts'
import { createCookieWriter } from '../sessions/cookie.ts'
import { createThrottle } from '../throttle/throttle.ts'
import { acceptAsUser, acceptByPassword, counted, sessionShown } from './acceptance.ts'
import { createMailLimit } from './mail-limit.ts'
import { createInvite, inviteMail, type NewInvite, withdrawInvite } from './operations.ts'
import { listInvites, presentInvite } from './store.ts'

type InviteIds = Extract<keyof Operations, 'listTeamInvites' | 'createTeamInvite' | 'deleteTeamInvite' | 'acceptTeamInvite'>

export function createInviteRoutes({
  config,
  publicUrl,
  now,
}: Pick<IdentityContext, 'config' | 'publicUrl' | 'now'>): Handlers<InviteIds, IdentityContext> {
  const cookie = createCookieWriter(publicUrl)
  const throttle = createThrottle(config.CP_LOGIN_LIMIT, now, 'Too many invites that were none.')
  const mayMail = createMailLimit(now)
  const answerOf = ({ invite, token }: NewInvite) => ({ ...presentInvite(invite), acceptUrl: publicUrl + invitePathOf(token), token })
  return {
    listTeamInvites({ actor, query }, { db }) {
      const page = idPageOf(query)
      return pageOf('teamInvite', listInvites(db, actor.workspaceId, page).map(presentInvite), ({ id }) => [id])
    },
    async createTeamInvite({ actor, body, change, note, keepAnswer }, context) {
      const made = change(() => {
        const created = withinQuotas(context, actor.workspaceId, () => createInvite(context, actor, body))
        const { id, email, role, scope } = presentInvite(created.invite)
        note({ target: id, metadata: { email, role, scope } })
        keepAnswer({ ...answerOf(created), emailed: false })
        return created
      })
      const { acceptUrl } = answerOf(made)
      const emailed = mayMail(actor.workspaceId, body.email) && (await sendInvite(context, actor, { ...made, acceptUrl }))
      return { ...answerOf(made), emailed }
    },
    deleteTeamInvite({ actor, params, note }, { db }) {
      const { id, email, role } = withdrawInvite(db, actor, params.inviteId)
      note({ target: id, metadata: { email, role } })
    },
    async acceptTeamInvite(call, context) {
      const session = sessionShown(context, call)
      return await counted(throttle, call.clientAddress, async () => {
        if (session === undefined) {
          const { signedIn, sessionToken } = await acceptByPassword(context, call)
          return answer(200, signedIn, cookie.set(sessionToken))
        }
        const { user, cookieToken } = session
        return answer(200, acceptAsUser(context, call, user), cookieToken === undefined ? {} : cookie.set(cookieToken))
      })
    },
  }
}

function sendInvite(context: IdentityContext, actor: Actor, { invite, acceptUrl }: NewInvite & { acceptUrl: string }): Promise<boolean> {
  const workspace = findWorkspace(context.db, invite.workspaceId)?.name ?? ''
  // A key is no person whom the one invited would know.
  const inviter = actor.type === 'user' ? `${actor.name} (${actor.email})` : 'An administrator'
  return deliver(context, inviteMail(invite, { inviter, workspace, url: acceptUrl }))
}
