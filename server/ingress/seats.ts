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

const GROUPS = 8
const NETWORK_GROUPS = 4

/** Whom an address belongs to: itself in IPv4, its /64 in IPv6, where every customer has as many addresses as he likes. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::')
  const [first, last] = [groupsOf(head), groupsOf(tail)]
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - first.length - last.length)
  return `${[...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, NETWORK_GROUPS).join(':')}::/64`
}

const groupsOf = (text: string | undefined): string[] => (text === undefined || text === '' ? [] : text.split(':'))
