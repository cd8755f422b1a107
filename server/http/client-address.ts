import { isIP, isIPv6 } from 'node:net'

/** Tells the address of the client from that of the peer and what proxies in between say. */
export type AddressReader = (peer: string | undefined, headers: Headers) => string

const UNKNOWN = 'unknown'

/**
 * Reads X-Forwarded-For from the right for as long as the hop is a trusted proxy; the first that is not is the client.
 * Without a trusted proxy the header counts for nothing.
 */
export function createAddressReader(isTrustedProxy: (address: string) => boolean): AddressReader {
  const isTrusted = (address: string) => isIP(address) !== 0 && isTrustedProxy(address)
  return (peer, headers) => {
    let client = plain(peer)
    if (!isTrusted(client)) return client
    const hops = headers.get('x-forwarded-for')?.split(',') ?? []
    while (isTrusted(client)) {
      const hop = plain(hops.pop()?.trim())
      if (isIP(hop) === 0) break
      client = hop
    }
    return client
  }
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

/** IPv4 addresses come as `::ffff:a.b.c.d` from a dual-stack socket. */
const plain = (address: string | undefined): string => address?.replace(/^::ffff:(?=\d+\.)/i, '') ?? UNKNOWN
