import { BlockList, isIP } from 'node:net'
import { AppError } from '../../shared/error.ts'

/**
 * Tells whether a peer is one of the proxies in front of us, given as CIDRs or single addresses.
 *
 * @throws AppError `bad_request` naming the entry that is neither.
 */
export function trustedProxies(cidrs: readonly string[]): (address: string) => boolean {
  if (cidrs.length === 0) return () => false
  const list = new BlockList()
  for (const cidr of cidrs) add(list, cidr)
  return (address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

function add(list: BlockList, cidr: string): void {
  const [address = '', prefix, ...rest] = cidr.split('/')
  const version = isIP(address)
  const bits = prefix === undefined ? maxBits(version) : Number(prefix)
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && bits <= maxBits(version))
  if (version === 0 || rest.length > 0 || !isPrefix) {
    throw new AppError('bad_request', `"${cidr}" is no address range of a trusted proxy. Write it as 10.0.0.0/8 or 2001:db8::/32.`)
  }
  list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4')
}

function maxBits(version: number): number {
  return version === 6 ? 128 : 32
}
