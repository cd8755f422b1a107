import { invitePathOf } from '../../../shared/invite-token.ts'
import { ACCOUNT_PATH, isOwnPath, type OAuthProblem } from '../../../shared/oauth.ts'
import { credentialOf } from '../../http/access/credential.ts'
import { requireOwnOrigin } from '../../http/access/origin.ts'
import { describeError } from '../../platform/server-log.ts'
import type { IdentityContext } from '../context.ts'
import { findSession, findSessionUser } from '../sessions/store.ts'
import { newToken } from '../tokens/token.ts'
import { insertAttempt } from './attempt-store.ts'
import type { BrowserCookie } from './browser-cookie.ts'
import { problemOfExchange } from './problem.ts'
import type { Provider, Secrets } from './providers/provider.ts'
import { HOME_PATH, problemUrl, redirect } from './redirects.ts'
import { LINK_SESSION_MS } from './rules.ts'

export interface Beginning {
  provider: Provider
  cookie: BrowserCookie
  headers: Headers
  returnTo: string | undefined
  inviteToken: string | undefined
  isLink: boolean
}

type BeginContext = Pick<IdentityContext, 'db' | 'sealer' | 'publicUrl' | 'log' | 'now'>

export async function beginAtProvider(context: BeginContext, beginning: Beginning): Promise<Response> {
  const { provider, cookie, headers, isLink, inviteToken } = beginning
  const returnTo = pathOf(beginning)
  const refuse = (problem: OAuthProblem) => redirect(problemUrl(context.publicUrl, problem, { returnTo, isLink }))
  if (inviteToken !== undefined && isFromElsewhere(headers, context.publicUrl))
    return redirect(context.publicUrl + invitePathOf(inviteToken))
  const linkUserId = isLink ? userToLink(context, headers) : undefined
  if (isLink && linkUserId === undefined) return refuse('link_needs_login')
  const secrets: Secrets = { state: newToken(), nonce: newToken(), verifier: newToken() }
  let location: URL
  try {
    location = await provider.authorizationUrl(secrets)
  } catch (error) {
    context.log.error('sign-in provider not usable', { provider: provider.id, ...describeError(error) })
    return refuse(problemOfExchange(error))
  }
  // One token serves all attempts of a browser, so that two tabs do not end each other's.
  const browserToken = cookie.read(headers) ?? newToken()
  insertAttempt(context, browserToken, { provider: provider.id, secrets, linkUserId, inviteToken, returnTo })
  return redirect(location.href, [cookie.write(browserToken)])
}

/** An invite that cannot make an account is shown on its own page to whoever is signed in then. */
function pathOf({ returnTo, inviteToken, isLink }: Beginning): string {
  if (returnTo !== undefined && isOwnPath(returnTo)) return returnTo
  if (isLink) return ACCOUNT_PATH
  return inviteToken === undefined ? HOME_PATH : invitePathOf(inviteToken)
}

/** Another site could otherwise have people join a workspace without a word, whose administrators then decide about their account. */
const isFromElsewhere = (headers: Headers, publicUrl: string): boolean =>
  headers.has('sec-fetch-site') && !isFromOwnPage(headers, publicUrl)

/** A link is a way in for good: begun elsewhere, it could be to another's account at the provider, and an old session may be stolen. */
function userToLink({ db, publicUrl, now }: BeginContext, headers: Headers): string | undefined {
  const credential = credentialOf(headers)
  if (credential.kind !== 'session' || !isFromOwnPage(headers, publicUrl)) return undefined
  const user = findSessionUser(db, credential.token, now())
  const session = findSession(db, credential.token)
  const isYoung = session !== undefined && now() - session.createdAt <= LINK_SESSION_MS
  return isYoung ? user?.id : undefined
}

function isFromOwnPage(headers: Headers, publicUrl: string): boolean {
  try {
    requireOwnOrigin(headers, new Set([new URL(publicUrl).origin]))
    return true
  } catch {
    return false
  }
}
