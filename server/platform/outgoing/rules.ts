/** Addresses that only this machine or its networks lead to are where metadata services, databases and our own control sockets answer. */
import { type IpRange, isInRanges, parseIp, parseIpRange } from '../../../shared/ip-address.ts'
import { isLoopbackHost } from '../network/address.ts'
import { isPublicAddress } from './public-addresses.ts'

export interface OutgoingPolicy {
  namedHosts: ReadonlySet<string>
  allowedRanges: readonly IpRange[]
}

/** Addresses that stand for others: translated to IPv4 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380), and the old compatible form. */
const standIns = ['64:ff9b::/96', '2002::/16', '2001::/32', '::/96'].flatMap((cidr) => parseIpRange(cidr) ?? [])

export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()

export const isSafeUrl = (url: URL): boolean =>
  url.username === '' && url.password === '' && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(hostOf(url))))

export function isReachable(address: string, host: string, { namedHosts, allowedRanges }: OutgoingPolicy): boolean {
  if (parseIp(address) === undefined) return false
  if (namedHosts.has(host) || isInRanges(address, allowedRanges)) return true
  return isPublicAddress(address) && !isInRanges(address, standIns)
}
