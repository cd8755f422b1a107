import { BlockList, isIP, isIPv6 } from 'node:net'
import { AppError } from '../../shared/error.ts'

/** Tells the address of the client from that of the peer and what proxies in between say. */
export type AddressReader = (peer: string | undefined, headers: Headers) => string

const UNKNOWN = 'unknown'

/**
 * Reads X-Forwarded-For from the right for as long as the hop is a trusted proxy; the first that is not is the client.
 * With no trusted proxy the header counts for nothing.
 *
 * @throws AppError `bad_request` for an entry of `trustedProxies` that is neither an address nor a CIDR.
 */
export function createAddressReader(trustedProxies: readonly string[]): AddressReader {
  if (trustedProxies.length === 0) return (peer) => plain(peer)
  const trusted = blockListOf(trustedProxies)
  const isTrusted = (address: string) => isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  return (peer, headers) => {
    let client = plain(peer)
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

function blockListOf(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    const max = family === 'ipv6' ? 128 : 32
    const prefix = bits === undefined ? max : Number(bits)
    if (isIP(address) === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > max) {
      throw new AppError('bad_request', `CP_TRUSTED_PROXIES: "${entry}" is not an address or CIDR such as 10.0.0.0/8`)
    }
    list.addSubnet(address, prefix, family)
  }
  return list
}
