import type { Database } from 'bun:sqlite'
import { type DeviceGrant, type DeviceTokens, type OAuthErrorCode, showUserCode } from '../../../shared/device.ts'
import { AppError } from '../../../shared/error.ts'
import { newDeviceCode, newUserCode } from './codes.ts'
import { countWaiting, findGrant, insertGrant, isUserCodeTaken, notePoll, takeApproved } from './grant-store.ts'
import { accessLifetimeOf, GRANT_MS, judgePoll, MAX_WAITING_GRANTS, POLL_INTERVAL_MS } from './rules.ts'
import { createDeviceSession } from './session-store.ts'

interface GrantDeps {
  db: Database
  publicUrl: string
  now(): number
}

interface Asking {
  client: string
  clientId: string
  address: string
}

export function beginGrant({ db, publicUrl, now }: GrantDeps, asking: Asking): DeviceGrant {
  const createdAt = now()
  if (countWaiting(db, asking.address, createdAt) >= MAX_WAITING_GRANTS) {
    throw new AppError('rate_limited', 'Too many logins wait to be confirmed from this address. Confirm one, or wait ten minutes.', {
      retryAfterSeconds: GRANT_MS / 1000,
    })
  }
  const deviceCode = newDeviceCode()
  const userCode = unusedUserCode(db)
  insertGrant(db, deviceCode, { ...asking, userCode, createdAt, expiresAt: createdAt + GRANT_MS })
  const page = `${publicUrl}/device`
  const shown = showUserCode(userCode)
  return {
    device_code: deviceCode,
    user_code: shown,
    verification_uri: page,
    verification_uri_complete: `${page}?code=${shown}`,
    expires_in: GRANT_MS / 1000,
    interval: POLL_INTERVAL_MS / 1000,
  }
}

function unusedUserCode(db: Database): string {
  for (;;) {
    const code = newUserCode()
    if (!isUserCodeTaken(db, code)) return code
  }
}

export type Redeemed = { userId: string; client: string; tokens: DeviceTokens } | { error: OAuthErrorCode }

/** Belongs in a transaction, which is to be kept whatever the outcome. */
export function redeemGrant({ db, now }: Omit<GrantDeps, 'publicUrl'>, deviceCode: string): Redeemed {
  const grant = findGrant(db, deviceCode)
  if (grant === undefined) return { error: 'invalid_grant' }
  const time = now()
  const verdict = judgePoll(grant, time)
  if (verdict !== 'redeem') {
    notePoll(db, deviceCode, time)
    return { error: verdict }
  }
  const taken = takeApproved(db, deviceCode)
  if (taken?.userId === undefined || taken.userId === null) return { error: 'invalid_grant' }
  const { userId, client, clientId, address } = taken
  const tokens = createDeviceSession(db, { userId, client, address, tokenLifetimeMs: accessLifetimeOf(clientId), now: time })
  return { userId, client, tokens }
}
