import { isIPv6 } from 'node:net'
import { forwardedClient } from '../../shared/forwarded-client.ts'

/** Tells the address of the client from that of the peer and what proxies in between say. */
export type AddressReader = (peer: string | undefined, headers: Headers) => string

const UNKNOWN = 'unknown'

/** Without a trusted proxy the header counts for nothing. */
export function createAddressReader(isTrustedProxy: (address: string) => boolean): AddressReader {
  return (peer, headers) => (peer === undefined ? UNKNOWN : forwardedClient(peer, headers.get('x-forwarded-for'), isTrustedProxy))
}

/** What limits are counted by: one IPv4 address, or the /64 network that one IPv6 customer has to himself. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':')
  const missing = address.includes('::') ? 8 - groups.length - tail.split(':').length : 0
  const all = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...tail.split(':')]
  return all.slice(0, 4).join(':')
}
