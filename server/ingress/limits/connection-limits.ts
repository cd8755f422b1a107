import { networkOf } from '../../platform/network/network-of.ts'
import type { IngressLimits } from './limits.ts'

/** Room for client connections, of all listeners together. */
export interface Seats {
  /** The seat's key, to be given back with `leave`; undefined when there is none for that address. */
  take(address: string): string | undefined
  leave(key: string): void
}

export interface SeatsOptions {
  limits: Pick<IngressLimits, 'maxConnections' | 'maxConnectionsPerAddress'>
  /** Those speak for many. */
  isTrusted(address: string): boolean
}

const TRUSTED = ''

export function createSeats({ limits, isTrusted }: SeatsOptions): Seats {
  const taken = new Map<string, number>()
  let total = 0
  return {
    take(address) {
      const key = isTrusted(address) ? TRUSTED : networkOf(address)
      const count = taken.get(key) ?? 0
      const isFull = key !== TRUSTED && limits.maxConnectionsPerAddress > 0 && count >= limits.maxConnectionsPerAddress
      if (isFull || total >= limits.maxConnections) return undefined
      total++
      taken.set(key, count + 1)
      return key
    },
    leave(key) {
      const count = taken.get(key) ?? 0
      total--
      if (count > 1) taken.set(key, count - 1)
      else taken.delete(key)
    },
  }
}
