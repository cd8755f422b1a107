import type { Database } from 'bun:sqlite'
import { type SourceHostProblem, sourceHostPath } from '../../../../shared/source-host.ts'
import { sessionTokenOf } from '../../../http/access/credential.ts'
import { findMembership } from '../../../identity/memberships/store.ts'
import { permissionsIn } from '../../../identity/permissions/grant.ts'
import { permissionsWithin } from '../../../identity/scopes/scope.ts'
import { findSessionUser, type SessionUser } from '../../../identity/sessions/store.ts'
import type { AppContext } from '../../context.ts'

type BrowserContext = Pick<AppContext, 'db' | 'now'>

/** The person whose browser it is, by its session; another site may have sent it here, so nothing goes by that alone. */
export function personIn({ db, now }: BrowserContext, { headers }: Request): SessionUser | undefined {
  const token = sessionTokenOf(headers)
  return token === undefined ? undefined : findSessionUser(db, token, now())
}

/** Asked again when somebody comes back: minutes have passed since they began. */
export function mayConnect(db: Database, user: SessionUser, workspaceId: string): boolean {
  const membership = findMembership(db, user.id, workspaceId)
  if (membership === undefined || (membership.requiresTwoFactor && !user.hasTwoFactor)) return false
  return permissionsWithin(membership.scope, permissionsIn(db, workspaceId, membership.role)).has('sourcehosts.manage')
}

export function backToPage(publicUrl: string, workspaceId: string, problem?: SourceHostProblem): Response {
  const url = publicUrl + sourceHostPath('github', workspaceId) + (problem === undefined ? '' : `&error=${problem}`)
  return new Response(null, { status: 303, headers: { Location: url } })
}
