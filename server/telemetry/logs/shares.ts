import type { LogType } from '../../../shared/log.ts'

/**
 * What each type may always keep of what a service may hold. Anybody can cause lines of requests, without end and without a credential:
 * they must not push out what the service itself and its builds have said.
 */
const SHARES: Record<LogType, number> = { app: 0.5, build: 0.25, request: 0.25 }

/** Which lines go first. */
const ORDER: readonly LogType[] = ['request', 'app', 'build']

/** Which type is to lose its oldest lines, and how many bytes of them, when a service holds more than `maxBytes`; undefined when it does not. */
export function excessIn(held: Readonly<Record<LogType, number>>, maxBytes: number): { type: LogType; bytes: number } | undefined {
  const excess = ORDER.reduce((sum, type) => sum + held[type], 0) - maxBytes
  const beyond = (type: LogType) => held[type] - SHARES[type] * maxBytes
  const type = excess > 0 ? ORDER.find((one) => beyond(one) > 0) : undefined
  return type === undefined ? undefined : { type, bytes: Math.min(excess, beyond(type)) }
}
