/**
 * A stranger who knows an address must not lock its owner out: failures count first for the pair of account and network address, and the
 * account is never closed to a browser that has logged in to it before.
 */
import { networkOf } from '../../platform/network/network-of.ts'
import type { Limit } from './throttle.ts'

const MINUTE_MS = 60_000
const WINDOW_MS = 15 * MINUTE_MS
const DAY_MS = 24 * 60 * MINUTE_MS
/** Times the limit of a pair. */
const OF_ADDRESS = 10
const OF_ACCOUNT = 100

const accountOf = (email: string): string => `account:${email.toLowerCase()}`
const pairOf = (email: string, address: string): string => `pair:${email.toLowerCase()} ${networkOf(address)}`
const knownDevice = (hash: string): string => `known:${hash}`

export const addressCounterOf = (address: string): string => `address:${networkOf(address)}`

interface SignInAttempt {
  email: string
  address: string
  device: string | undefined
}

export function loginCountersOf({ email, address, device }: SignInAttempt): { all: string[]; forgiven: string[] } {
  if (device !== undefined) return { all: [knownDevice(device)], forgiven: [knownDevice(device)] }
  const pair = pairOf(email, address)
  return { all: [pair, addressCounterOf(address), accountOf(email)], forgiven: [pair] }
}

/** Counters of who has shown a password or a session already: strictly for the account, whatever they come from. */
export const proofCountersOf = (email: string, address: string): [account: string, address: string] => [
  `proof:${email.toLowerCase()}`,
  addressCounterOf(address),
]

export const forgivenByReset = (email: string, address: string): string[] => [
  accountOf(email),
  pairOf(email, address),
  proofCountersOf(email, address)[0],
]

export const loginLimits =
  (limit: number) =>
  (key: string): Limit => {
    if (key.startsWith('account:')) return { failures: OF_ACCOUNT * limit, windowMs: DAY_MS }
    return { failures: key.startsWith('address:') ? OF_ADDRESS * limit : limit, windowMs: WINDOW_MS }
  }
