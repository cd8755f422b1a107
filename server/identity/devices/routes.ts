import type { Database } from 'bun:sqlite'
import { deviceGrantType, type OAuthErrorCode, refreshGrantType } from '../../../shared/device.ts'
import type { Operation } from '../../../shared/operation.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { credentialOf } from '../../http/access/credential.ts'
import { answer, type Call, type Handlers } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { createThrottle } from '../throttle/throttle.ts'
import { findUser } from '../users/store.ts'
import { answerRequest, readRequest } from './confirm.ts'
import { beginGrant, redeemGrant } from './grant.ts'
import { clientNameOf, explanations } from './rules.ts'
import { endSessionOf, refreshSession } from './session-store.ts'

type DeviceIds = Extract<
  keyof Operations,
  'createDeviceGrant' | 'redeemDeviceGrant' | 'refreshDeviceToken' | 'revokeDeviceToken' | 'getDeviceRequest' | 'answerDeviceRequest'
>

/** Made once a server, because the counters of wrong codes belong to it. */
export function createDeviceRoutes({ config, now }: Pick<IdentityContext, 'config' | 'now'>): Handlers<DeviceIds, IdentityContext> {
  const throttle = createThrottle(config.CP_LOGIN_LIMIT, now)

  return {
    createDeviceGrant: ({ body, request, clientAddress }, context) =>
      beginGrant(context, {
        client: clientNameOf(body.client_name, request.headers.get('user-agent')),
        clientId: body.client_id ?? '',
        address: clientAddress,
      }),
    redeemDeviceGrant(call, context) {
      if (call.body.grant_type !== deviceGrantType) return refusal(call, 'unsupported_grant_type')
      const redeemed = redeemGrant(context, call.body.device_code)
      if ('error' in redeemed) return refusal(call, redeemed.error)
      noteUser(call, context.db, redeemed)
      return redeemed.tokens
    },
    refreshDeviceToken(call, { db, sealer }) {
      if (call.body.grant_type !== refreshGrantType) return refusal(call, 'unsupported_grant_type')
      const refreshed = refreshSession({ db, sealer }, call.body.refresh_token, now())
      if (refreshed.outcome === 'refreshed') {
        call.note({ isUnchanged: true })
        return refreshed.tokens
      }
      if (refreshed.outcome === 'unknown') return refusal(call, 'invalid_grant')
      noteUser(call, db, refreshed)
      // An answer, not an error thrown: that the session has ended must stay written.
      return oauthError(call, 'invalid_grant')
    },
    revokeDeviceToken(call, { db }) {
      const credential = credentialOf(call.request.headers)
      const token = call.body?.token ?? (credential.kind === 'bearer' ? credential.token : undefined)
      const ended = token === undefined ? undefined : endSessionOf(db, token)
      if (ended === undefined) call.note({ isUnchanged: true })
      else noteUser(call, db, ended)
      return undefined
    },
    getDeviceRequest: ({ actor, query, clientAddress }, { db }) =>
      readRequest({ db, throttle, now }, { typed: query.code, actor, address: clientAddress }),
    answerDeviceRequest: ({ actor, body, clientAddress, request }, { db }) =>
      answerRequest(
        { db, throttle, now },
        { typed: body.code, actor, address: clientAddress },
        { isApproved: body.approve, isInBrowser: credentialOf(request.headers).kind === 'session' },
      ),
  }
}

type NotedCall = Pick<Call<Operation>, 'note' | 'requestId'>

function noteUser(call: NotedCall, db: Database, { userId, client }: { userId: string; client: string }): void {
  const email = findUser(db, userId)?.email ?? ''
  call.note({ actor: { type: 'user', id: userId, email }, metadata: { device: client } })
}

function refusal(call: NotedCall, error: OAuthErrorCode) {
  call.note({ isUnchanged: true })
  return oauthError(call, error)
}

const oauthError = ({ requestId: id }: NotedCall, error: OAuthErrorCode) =>
  answer(400, { message: explanations[error], code: 'bad_request' as const, id, error, error_description: explanations[error] })
