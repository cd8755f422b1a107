import { AppError } from '../../../shared/error.ts'
import { parseIpRange } from '../../../shared/ip-address.ts'
import { isProviderId, type ProviderId } from '../../../shared/oauth.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import { answer, type Handlers } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { createCookieWriter } from '../sessions/cookie.ts'
import { placeOf } from '../sessions/place.ts'
import { finishPendingSignIn, pendingTokenOf } from '../sign-in/pending.ts'
import { findUser } from '../users/store.ts'
import { keepAnswer } from './attempt-store.ts'
import { beginAtProvider } from './begin.ts'
import { createBrowserCookie } from './browser-cookie.ts'
import { completeAtProvider } from './complete.ts'
import { findIdentityAt, listIdentities, presentIdentity, removeIdentity } from './identity-store.ts'
import { callbackPathOf, createProviders } from './providers/all.ts'
import { nameOfAppleForm } from './providers/claims.ts'
import { type ProviderSettings, providerSettingsOf } from './providers/settings.ts'
import { problemUrl, redirect } from './redirects.ts'
import { mayUnlink } from './rules.ts'

type OAuthIds = Extract<
  keyof Operations,
  'listAuthProviders' | 'beginOAuth' | 'completeOAuth' | 'completeOAuthByForm' | 'finishSignIn' | 'listIdentities' | 'unlinkIdentity'
>

export function createOAuthRoutes({ config, publicUrl, stopping, now }: IdentityContext): Handlers<OAuthIds, IdentityContext> {
  const configured = providerSettingsOf(config)
  const allowedRanges = config.CP_OUTGOING_ALLOW.flatMap((cidr) => parseIpRange(cidr) ?? [])
  const providerOf = createProviders(publicUrl, { allowedRanges, stopping, now })
  const cookie = createBrowserCookie(publicUrl)
  const settingsOf = (id: string): ProviderSettings => {
    const settings = configured.find((one) => one.id === id)
    if (settings === undefined) throw unknownProvider()
    return settings
  }

  return {
    listAuthProviders: () => configured.map(({ id, name }) => ({ id, name, authorizeUrl: `${publicUrl}/v1/auth/oauth/${id}` })),
    async beginOAuth({ params, query, request }, context) {
      const provider = await providerOf(settingsOf(params.provider))
      const { returnTo, inviteToken, link } = query
      return beginAtProvider(context, { provider, cookie, headers: request.headers, returnTo, inviteToken, isLink: link === true })
    },
    async completeOAuth(call, context) {
      const provider = await providerOf(settingsOf(call.params.provider))
      return completeAtProvider(context, { ...call, provider, cookie, fields: call.query })
    },
    completeOAuthByForm({ params, body }, context) {
      const { id } = settingsOf(params.provider)
      const { state = '', user, ...answered } = body
      const isKept = keepAnswer(context, { provider: id, state }, { ...answered, name: nameOfAppleForm(user) })
      if (!isKept) return redirect(problemUrl(publicUrl, 'oauth_expired', { returnTo: '/', isLink: false }))
      return redirect(`${publicUrl}${callbackPathOf(id)}?${new URLSearchParams({ state })}`)
    },
    finishSignIn(call, context) {
      const { request, body } = call
      const { signedIn, sessionToken } = finishPendingSignIn(context, {
        token: pendingTokenOf(request.headers),
        otp: body.otp,
        place: placeOf(call),
        onAccount: ({ id, email }) => call.note({ actor: { type: 'user', id, email } }),
      })
      return answer(200, signedIn, createCookieWriter(publicUrl).set(sessionToken))
    },
    listIdentities({ actor, query }, { db }) {
      const { beforeId: after, limit } = idPageOf(query)
      return pageOf('identity', listIdentities(db, actor.id, { after, limit }).map(presentIdentity), ({ provider }) => [provider])
    },
    unlinkIdentity({ actor, params, note }, { db }) {
      const provider = unlink(db, actor.id, params.provider)
      note({ target: actor.id, metadata: { provider } })
      return answer(204, undefined)
    },
  }
}

const unknownProvider = (): AppError =>
  new AppError('not_found', 'There is no sign-in with this provider here. GET /v1/auth/providers lists those there are.')

function unlink(db: IdentityContext['db'], userId: string, provider: string): ProviderId {
  const identity = isProviderId(provider) ? findIdentityAt(db, userId, provider) : undefined
  if (identity === undefined) throw new AppError('not_found', 'No account of this provider is linked to yours.')
  const hasPassword = findUser(db, userId)?.passwordHash !== ''
  const otherIdentities = listIdentities(db, userId, { limit: 3 }).length - 1
  if (!mayUnlink({ hasPassword, otherIdentities })) {
    throw new AppError('conflict', 'It is the only way to sign in to your account. Set a password first, or link another provider.')
  }
  removeIdentity(db, userId, identity.provider)
  return identity.provider
}
