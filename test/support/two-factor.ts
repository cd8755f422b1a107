import { Secret, TOTP } from 'otpauth'
import { type CallOptions, call, type Reply } from './client.ts'
import type { TestServer } from './server.ts'

const STEP_MS = 30_000

/** What an authenticator app shows at a moment. */
export const totpAt = (secret: string, timestamp: number): string => TOTP.generate({ secret: Secret.fromBase32(secret), timestamp })

/** What the app will show in its next step: for a test in which the present one is taken. */
export const nextTotp = (secret: string, now = Date.now()): string => totpAt(secret, now + STEP_MS)

/** Sends a request as a page of the server does for a signed-in user. */
export const fromPage = <T = Record<string, unknown>>(
  server: TestServer,
  path: string,
  cookie: string,
  options: CallOptions = {},
): Promise<Reply<T>> => call<T>(`${server.url}/v1${path}`, { cookie, ...options, headers: { origin: server.url, ...options.headers } })

export interface EnabledTwoFactor {
  secret: string
  recoveryCodes: string[]
}

/** Switches two-factor sign-in on as a user does; the present step is taken by it. */
export async function enableTwoFactor(
  server: TestServer,
  { cookie, password }: { cookie: string; password: string },
  now: () => number = Date.now,
): Promise<EnabledTwoFactor> {
  const begun = await fromPage<{ secret: string }>(server, '/auth/two-factor', cookie, { json: { password } })
  if (begun.status !== 200) throw new Error(`Not begun: ${JSON.stringify(begun.body)}`)
  const { secret } = begun.body
  const confirmed = await fromPage<{ recoveryCodes: string[] }>(server, '/auth/two-factor/confirm', cookie, {
    json: { code: totpAt(secret, now()) },
  })
  if (confirmed.status !== 200) throw new Error(`Not confirmed: ${JSON.stringify(confirmed.body)}`)
  return { secret, recoveryCodes: confirmed.body.recoveryCodes }
}
