import type { RateClass } from './rate-class.ts'
import { createRateLimiter, type RateLimiter, type RateState } from './rate-limit.ts'

/** Requests a minute; 0 is no limit, and 0 for `requests` lifts the others as well. */
export interface RateSettings {
  requests: number
  writes: number
  deploys: number
  signIns: number
}

export interface Counted {
  class: RateClass
  credential: string | undefined
  address(): string
  /** Whether a credential was shown that nobody has. */
  isGuess?: boolean
}

export interface RateLimits {
  take(request: Counted): RateState
  peek(request: Pick<Counted, 'credential' | 'address'>): RateState
}

/** What takes a secret counts against the address also when a credential came along: an account makes nobody faster at guessing. */
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
