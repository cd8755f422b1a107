import type { LogType } from '../../../shared/log.ts'

/** Anybody can cause lines of requests without a credential: they must not push out what the service and its builds have said. */
const SHARES: Record<LogType, number> = { app: 0.5, build: 0.2, platform: 0.05, request: 0.25 }

const ORDER: readonly LogType[] = ['request', 'app', 'build', 'platform']

export function excessIn(held: Readonly<Record<LogType, number>>, maxBytes: number): { type: LogType; bytes: number } | undefined {
  const excess = ORDER.reduce((sum, type) => sum + held[type], 0) - maxBytes
  const beyond = (type: LogType) => held[type] - SHARES[type] * maxBytes
  const type = excess > 0 ? ORDER.find((one) => beyond(one) > 0) : undefined
  return type === undefined ? undefined : { type, bytes: Math.min(excess, beyond(type)) }
}
