import { cpctlClientId, type DeviceGrant, type DeviceTokens, deviceGrantType, type OAuthErrorCode } from '../../shared/device.ts'
import type { Client } from '../api/client.ts'
import { CliError, isPassing } from '../base/error.ts'
import { sleep } from '../base/sleep.ts'
import { clean } from '../terminal/text.ts'
import type { Context } from './context.ts'
import { type DeviceCredential, keptTokens } from './device-tokens.ts'
import { clientWith, type SignedIn } from './login.ts'

const MAX_NAME_CHARS = 100
/** By how much a server that is asked too often has us wait longer: RFC 8628, section 3.5. */
const SLOWER_MS = 5000

/**
 * Logs in through a browser, here or anywhere: the user confirms the code that is shown. Undefined for a server that knows no such login.
 *
 * @throws CliError `unauthorized` when the login is refused or takes too long; Interrupted on Ctrl-C.
 */
export async function loginByDevice(context: Context, url: string): Promise<SignedIn | undefined> {
  const client = clientWith(context, url)
  const grant = await beginGrant(context, client)
  if (grant === undefined) return undefined
  const { user_code: code, verification_uri_complete: page } = grant
  context.note(clean`To log in, open this page, and see that it shows the code ${code}:\n\n  ${page}\n`)
  context.note(context.io.openBrowser(page) ? 'It was opened in your browser. Waiting ...' : 'Waiting ...')
  const tokens = await awaitTokens(context, client, grant)
  const credential: DeviceCredential = { kind: 'device', email: '', ...keptTokens(tokens, context.io.now()) }
  const me = await clientWith(context, url, credential).call('me')
  return { credential: { ...credential, email: me.actor.email ?? '' }, me }
}

async function beginGrant({ io }: Context, client: Client): Promise<DeviceGrant | undefined> {
  const name = `cpctl on ${io.hostname}`.slice(0, MAX_NAME_CHARS)
  return client.call('createDeviceGrant', { body: { client_id: cpctlClientId, client_name: name } }).catch((error: unknown) => {
    if (error instanceof CliError && error.code === 'not_found') return undefined
    throw error
  })
}

/** Asks at the interval that the server names until there is an answer, through restarts of the server. */
async function awaitTokens({ io }: Context, client: Client, grant: DeviceGrant): Promise<DeviceTokens> {
  const endsAt = performance.now() + grant.expires_in * 1000
  let intervalMs = grant.interval * 1000
  while (performance.now() < endsAt) {
    await sleep(intervalMs, io.interrupted)
    io.interrupted.throwIfAborted()
    const answer = await ask(client, grant.device_code)
    if (typeof answer === 'object') return answer
    if (answer === 'slow_down') intervalMs += SLOWER_MS
    else if (answer !== 'authorization_pending') throw refusal(answer)
  }
  throw refusal('expired_token')
}

const refusals: Partial<Record<OAuthErrorCode, string>> = {
  access_denied: 'The login was refused in the browser.',
  expired_token: 'The code was not confirmed in time.',
}

const refusal = (error: OAuthErrorCode): CliError =>
  new CliError('unauthorized', refusals[error] ?? 'The server knows this login no longer.', { hint: 'Begin again: cpctl login' })

async function ask(client: Client, deviceCode: string): Promise<DeviceTokens | OAuthErrorCode> {
  try {
    const body = { grant_type: deviceGrantType, client_id: cpctlClientId, device_code: deviceCode }
    const response = await client.respond('redeemDeviceGrant', { body })
    if (response.ok) return (await response.json()) as DeviceTokens
    return ((await response.json()) as { error?: OAuthErrorCode }).error ?? 'invalid_grant'
  } catch (error) {
    if (isPassing(error)) return 'authorization_pending'
    throw error
  }
}
