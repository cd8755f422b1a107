import { AppError } from '../../../shared/error.ts'
import { type IpRange, isInRanges, parseIpRange } from '../../../shared/ip-address.ts'

/** Whether a peer is a proxy in front of us. @throws AppError `bad_request` naming an entry that is no CIDR or address. */
export function trustedProxies(cidrs: readonly string[]): (address: string) => boolean {
  if (cidrs.length === 0) return () => false
  const ranges = cidrs.map(rangeOf)
  return (address) => isInRanges(address, ranges)
}

function rangeOf(cidr: string): IpRange {
  const range = parseIpRange(cidr)
  if (range !== undefined) return range
  throw new AppError('bad_request', `"${cidr}" is no address range of a trusted proxy. Write it as 10.0.0.0/8 or 2001:db8::/32.`)
}
