import type { RateClass } from './rate-class.ts'
import { createRateLimiter, type RateLimiter, type RateState } from './rate-limit.ts'

/** Requests a minute; 0 is no limit. */
export interface RateSettings {
  /** Of all kinds, for one credential or address; 0 lifts the others as well. */
  requests: number
  writes: number
  deploys: number
  /** For one address: sign-ins, and apart from these requests whose credential nobody has. */
  signIns: number
}

/** Whom a request is counted against. */
export interface Counted {
  class: RateClass
  /** Of the credential that was shown, where it is one of ours. */
  credential: string | undefined
  /** The client's, as limits are counted by it; asked for only where it counts. */
  address(): string
  /** Whether a credential was shown that nobody has. */
  isGuess?: boolean
}

export interface RateLimits {
  /** Counts a request against each limit it falls under; gives the one that has least left, or that refuses it. */
  take(request: Counted): RateState
  /** The limit on all requests, without counting. */
  peek(request: Pick<Counted, 'credential' | 'address'>): RateState
}

/**
 * Each credential has its own limits, and each address those of requests without one. What takes a secret counts against the address
 * also when a credential came along: neither passwords nor tokens can be tried faster for having an account.
 */
export function createRateLimits({ requests, writes, deploys, signIns }: RateSettings, now: () => number): RateLimits {
  const limiterOf = (perMinute: number): RateLimiter | undefined =>
    perMinute === 0 || requests === 0 ? undefined : createRateLimiter(perMinute, now)
  const all = createRateLimiter(requests, now)
  const ofClass: Record<RateClass, RateLimiter | undefined> = {
    read: undefined,
    write: limiterOf(writes),
    deploy: limiterOf(deploys),
    'sign-in': limiterOf(signIns),
  }
  const guess = limiterOf(signIns)

  return {
    take(request) {
      if (request.class === 'read' && !request.isGuess) return all.take(keyOf(request))
      const states = [all.take(keyOf(request))]
      const count = (limiter: RateLimiter | undefined, key: string) => {
        if (limiter !== undefined && states.at(-1)?.retryAfterSeconds === undefined) states.push(limiter.take(key))
      }
      if (request.isGuess) count(guess, request.address())
      for (const key of keysOf[request.class](request)) count(ofClass[request.class], key)
      return states.reduce(nearestEnd)
    },
    peek: (request) => all.peek(keyOf(request)),
  }
}

type Caller = Pick<Counted, 'credential' | 'address'>

const keyOf = ({ credential, address }: Caller): string => credential ?? address()

/** Whom a request of each class is counted against, beside the limit on all. */
const keysOf: Record<RateClass, (caller: Caller) => string[]> = {
  read: () => [],
  write: (caller) => [keyOf(caller)],
  deploy: (caller) => [keyOf(caller)],
  'sign-in': ({ credential, address }) => [address(), ...(credential === undefined ? [] : [credential])],
}

function nearestEnd(one: RateState, other: RateState): RateState {
  if (other.retryAfterSeconds !== undefined) return other
  return other.remaining < one.remaining ? other : one
}
