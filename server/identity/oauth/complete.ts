/**
 * The way of a sign-in: begin.ts keeps an attempt under the hash of a new `state`, bound to a cookie of the browser. The provider sends the
 * browser back; Apple has it post a form from its own site, to which browsers bring no cookie, so that answer is kept and the browser sent
 * on by GET. Here one browser takes the attempt, once. rules.ts decides whose account it is, and enter.ts does so, in one transaction with
 * its audit entry. What the provider said stands in the server's log only.
 */
import { AppError } from '../../../shared/error.ts'
import { type OAuthProblem, oauthProblems } from '../../../shared/oauth.ts'
import { sessionTokenOf } from '../../http/access/credential.ts'
import type { AuditFacts } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { createCookieWriter } from '../sessions/cookie.ts'
import { placeOf } from '../sessions/place.ts'
import { deleteSession, findSessionUser } from '../sessions/store.ts'
import { pendingCookieOf } from '../sign-in/pending.ts'
import { type KeptAnswer, type TakenAttempt, takeAttempt } from './attempt-store.ts'
import type { BrowserCookie } from './browser-cookie.ts'
import { enter, link } from './enter.ts'
import { explanationOf, problemOfExchange } from './problem.ts'
import type { Profile, Provider } from './providers/provider.ts'
import { codeUrl, HOME_PATH, pageUrl, problemUrl, redirect } from './redirects.ts'

export interface AnswerFields {
  code?: string
  state?: string
  error?: string
  iss?: string
}

export interface Callback {
  provider: Provider
  cookie: BrowserCookie
  fields: AnswerFields
  request: Request
  clientAddress: string
  change<T>(apply: () => T): T
  note(facts: AuditFacts): void
  deny(error: AppError): void
}

type CompleteContext = Pick<IdentityContext, 'db' | 'audit' | 'sealer' | 'publicUrl' | 'config' | 'log' | 'now'>

export async function completeAtProvider(context: CompleteContext, callback: Callback): Promise<Response> {
  const { provider, cookie, fields, request } = callback
  const attempt = takeAttempt(context, {
    provider: provider.id,
    state: fields.state ?? '',
    browserToken: cookie.read(request.headers) ?? '',
  })
  if (attempt === undefined) return refuse(context, callback, { problem: 'oauth_expired', returnTo: HOME_PATH, isLink: false })
  const outcome = await profileOf(context, callback, attempt)
  if ('problem' in outcome) return refuse(context, callback, { ...outcome, ...aimOf(attempt) })
  return attempt.linkUserId === undefined
    ? signIn(context, callback, { attempt, ...outcome })
    : linkTo(context, callback, { attempt, ...outcome })
}

const aimOf = ({ returnTo, linkUserId }: TakenAttempt) => ({ returnTo, isLink: linkUserId !== undefined })

/** Where the provider sends forms, the form's answer counts, and of the address the state only. */
async function profileOf(
  { log }: CompleteContext,
  { provider, fields }: Callback,
  attempt: TakenAttempt,
): Promise<{ profile: Profile } | { problem: OAuthProblem }> {
  const { code, iss, error, name }: KeptAnswer = attempt.keptAnswer ?? fields
  if (code === undefined) return { problem: isCancellation(error) ? 'oauth_cancelled' : 'oauth_refused' }
  try {
    return { profile: await provider.profileOf({ code, iss, name }, attempt.secrets) }
  } catch (cause) {
    log.error('sign-in refused', { provider: provider.id, message: explanationOf(cause) })
    return { problem: problemOfExchange(cause) }
  }
}

const isCancellation = (error: string | undefined): boolean => error === 'access_denied' || error === 'user_cancelled_authorize'

interface Known {
  attempt: TakenAttempt
  profile: Profile
}

function signIn(context: CompleteContext, callback: Callback, { attempt, profile }: Known): Response {
  const { db, publicUrl } = context
  const { provider, request, change, note } = callback
  const { inviteToken, returnTo } = attempt
  const entered = change(() => {
    const result = enter(context, { provider: provider.id, profile, inviteToken, place: placeOf(callback) })
    const oldToken = sessionTokenOf(request.headers)
    if (result.kind === 'signed_in' && oldToken !== undefined) deleteSession(db, oldToken)
    note(result.kind === 'refused' ? { isUnchanged: true } : factsOf(provider, result))
    return result
  })
  switch (entered.kind) {
    case 'refused':
      if (entered.user !== undefined) note({ actor: { type: 'user', id: entered.user.id, email: entered.user.email } })
      return refuse(context, callback, { problem: entered.problem, ...aimOf(attempt) })
    case 'code_wanted':
      return redirect(codeUrl(publicUrl, returnTo), [pendingCookieOf(publicUrl, entered.pendingToken)])
    case 'signed_in': {
      const path = entered.how === 'invited' ? HOME_PATH : returnTo
      return redirect(pageUrl(publicUrl, path), Object.values(createCookieWriter(publicUrl).set(entered.sessionToken)))
    }
  }
}

const factsOf = (
  { id }: Provider,
  { user, ...entered }: { user: { id: string; email: string }; kind: string; how?: string },
): AuditFacts => ({
  actor: { type: 'user', id: user.id, email: user.email },
  target: user.id,
  metadata: { provider: id, outcome: entered.how ?? entered.kind },
})

function linkTo(context: CompleteContext, callback: Callback, { attempt, profile }: Known): Response {
  const { db, publicUrl, now } = context
  const { provider, request, change, note } = callback
  const { linkUserId: wantedUserId = '', returnTo } = attempt
  const outcome = change(() => {
    const sessionUser = findSessionUser(db, sessionTokenOf(request.headers) ?? '', now())
    const result = link(context, { provider: provider.id, profile }, { wantedUserId, sessionUserId: sessionUser?.id })
    if (result.kind === 'linked' && sessionUser !== undefined) note(factsOf(provider, { user: sessionUser, kind: 'linked' }))
    else note({ isUnchanged: true })
    return result
  })
  if (outcome.kind === 'refused') return refuse(context, callback, { problem: outcome.problem, ...aimOf(attempt) })
  return redirect(pageUrl(publicUrl, returnTo))
}

const harmless: ReadonlySet<OAuthProblem> = new Set(['oauth_cancelled', 'oauth_unavailable'])

function refuse(
  { publicUrl }: CompleteContext,
  { provider, note, deny }: Callback,
  { problem, ...aim }: { problem: OAuthProblem; returnTo: string; isLink: boolean },
): Response {
  note({ isUnchanged: true, metadata: { provider: provider.id, problem } })
  if (!harmless.has(problem)) deny(new AppError('unauthorized', oauthProblems[problem]))
  return redirect(problemUrl(publicUrl, problem, aim))
}
