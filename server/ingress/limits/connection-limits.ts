import { networkOf } from '../../platform/network/network-of.ts'
import type { IngressLimits } from './limits.ts'

export interface ConnectionLimits {
  admit(address: string): string | undefined
  release(key: string): void
}

export interface ConnectionLimitsOptions {
  limits: Pick<IngressLimits, 'maxConnections' | 'maxConnectionsPerAddress'>
  isTrusted(address: string): boolean
}

const TRUSTED = ''

export function createConnectionLimits({ limits, isTrusted }: ConnectionLimitsOptions): ConnectionLimits {
  const taken = new Map<string, number>()
  let total = 0
  return {
    admit(address) {
      const key = isTrusted(address) ? TRUSTED : networkOf(address)
      const count = taken.get(key) ?? 0
      const isFull = key !== TRUSTED && limits.maxConnectionsPerAddress > 0 && count >= limits.maxConnectionsPerAddress
      if (isFull || total >= limits.maxConnections) return undefined
      total++
      taken.set(key, count + 1)
      return key
    },
    release(key) {
      const count = taken.get(key) ?? 0
      total--
      if (count > 1) taken.set(key, count - 1)
      else taken.delete(key)
    },
  }
}
