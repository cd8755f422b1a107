import { type DeviceTokens, refreshGrantType } from '../../shared/device.ts'
import type { Client } from '../api/client.ts'
import type { Credential } from './credentials.ts'

export type DeviceCredential = Extract<Credential, { kind: 'device' }>

/** Tokens are renewed this long before they end, so that none ends on its way. Milliseconds. */
const MARGIN_MS = 120_000
/** Shorter lifetimes keep a part of themselves as margin. */
const MARGIN_PART = 4

/** When the token is to be renewed, in milliseconds since 1970. */
export const renewalOf = ({ expiresAt, lifetimeMs }: DeviceCredential): number => expiresAt - Math.min(MARGIN_MS, lifetimeMs / MARGIN_PART)

/** The tokens as they are kept, with their end by the clock of this machine, against which it is held later. */
export const keptTokens = (
  tokens: DeviceTokens,
  now: number,
): Pick<DeviceCredential, 'token' | 'refreshToken' | 'expiresAt' | 'lifetimeMs'> => ({
  token: tokens.access_token,
  refreshToken: tokens.refresh_token,
  expiresAt: now + tokens.expires_in * 1000,
  lifetimeMs: tokens.expires_in * 1000,
})

/** New tokens for the refresh token; undefined when the server says that it is good no longer. */
export async function exchange(client: Client, refreshToken: string): Promise<DeviceTokens | undefined> {
  const response = await client.respond('refreshDeviceToken', { body: { grant_type: refreshGrantType, refresh_token: refreshToken } })
  return response.ok ? ((await response.json()) as DeviceTokens) : undefined
}
