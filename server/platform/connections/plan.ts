import { networkOf } from '../network/network-of.ts'

export interface KnownConnection {
  descriptor: number
  address: string
  since: number
  isHalfOpen: boolean
}

export interface ConnectionLimits {
  /** Connections of one address, or of one /64 in IPv6; 0 is no limit. */
  perAddress: number
  trusted: number
  total: number
  halfOpenMs: number
}

export interface Situation {
  now: number
  limits: ConnectionLimits
  missing: number
  isTrusted(address: string): boolean
}

const TRUSTED = 'trusted'

export function connectionsToEnd(
  connections: readonly KnownConnection[],
  { now, limits, missing, isTrusted }: Situation,
): KnownConnection[] {
  const ended: KnownConnection[] = []
  const counts = new Map<string, number>()
  const kept = connections.filter((connection) => {
    const key = isTrusted(connection.address) ? TRUSTED : networkOf(connection.address)
    const count = (counts.get(key) ?? 0) + 1
    const isLate = connection.isHalfOpen && now - connection.since >= limits.halfOpenMs
    if (isLate || count > roomOf(key, limits)) {
      ended.push(connection)
      return false
    }
    counts.set(key, count)
    return true
  })
  const room = Math.min(limits.total, kept.length - Math.max(0, missing - ended.length))
  return [...ended, ...kept.slice(Math.max(0, room))]
}

function roomOf(key: string, { perAddress, trusted }: ConnectionLimits): number {
  if (key === TRUSTED) return trusted
  return perAddress === 0 ? Number.POSITIVE_INFINITY : perAddress
}

const MAX_CONNECTIONS = 10_000
/** Shares of the descriptors this process may have: of connections, of the trusted among them, and of everything. */
const SHARES = { connections: 0.5, trusted: 0.25, all: 0.8 }

export function limitsFor(descriptorLimit: number, perAddress: number): { limits: ConnectionLimits; descriptorRoom: number } {
  const total = Math.min(MAX_CONNECTIONS, Math.floor(descriptorLimit * SHARES.connections))
  const trusted = Math.min(MAX_CONNECTIONS / 2, Math.floor(descriptorLimit * SHARES.trusted))
  return { limits: { perAddress, trusted, total, halfOpenMs: 60_000 }, descriptorRoom: Math.floor(descriptorLimit * SHARES.all) }
}
