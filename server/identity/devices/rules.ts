import type { OAuthErrorCode } from '../../../shared/device.ts'
import { visibleChar } from '../../../shared/schema.ts'

export const GRANT_MS = 10 * 60_000
export const POLL_INTERVAL_MS = 5000
/** A client that keeps the interval may still come early, by what timers and networks are off: Render's takes slow_down for the end. */
const POLL_SLACK_MS = 1500
export const MAX_WAITING_GRANTS = 20

export const REFRESH_GRACE_MS = 60_000

export const DEVICE_SESSION_MS = 90 * 24 * 3600 * 1000
const ACCESS_MS = 3600 * 1000
const LONG_ACCESS_MS = 48 * 3600 * 1000

/** The id of Render's CLI. It refreshes whenever less than 24 hours are left, at each command if need be, several at once. */
const RENDER_CLI_ID = '429024F5E608930E2A65EF92591A25CC'

export const accessLifetimeOf = (clientId: string): number => (clientId === RENDER_CLI_ID ? LONG_ACCESS_MS : ACCESS_MS)

const MAX_NAME_CHARS = 100
const visible = new RegExp(visibleChar, 'gu')

export function clientNameOf(given: string | undefined, userAgent: string | null): string {
  const clean = (text: string) => (text.match(visible) ?? []).join('').trim().slice(0, MAX_NAME_CHARS)
  return clean(given ?? '') || clean(userAgent ?? '') || 'A program without a name'
}

export type GrantStatus = 'pending' | 'approved' | 'denied'

export interface Polled {
  status: GrantStatus
  polledAt: number | null
  expiresAt: number
}

export function judgePoll({ status, polledAt, expiresAt }: Polled, now: number): 'redeem' | OAuthErrorCode {
  if (expiresAt <= now) return 'expired_token'
  if (status === 'approved') return 'redeem'
  if (status === 'denied') return 'access_denied'
  return polledAt !== null && now - polledAt < POLL_INTERVAL_MS - POLL_SLACK_MS ? 'slow_down' : 'authorization_pending'
}

export const explanations: Readonly<Record<OAuthErrorCode, string>> = {
  authorization_pending: 'The code has not been confirmed yet. Ask again after the interval.',
  slow_down: 'You ask too often. Wait five seconds longer between two polls.',
  access_denied: 'The login was refused in the browser.',
  expired_token: 'The code was not confirmed in time. Begin the login again.',
  invalid_grant: 'This code or token is unknown, used up or revoked. Log in again.',
  unsupported_grant_type: 'This grant_type is not served at this path.',
}
