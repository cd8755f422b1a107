/**
 * What the server may connect to on behalf of a setting, a tenant or an answer it was given. Addresses that only this machine or its
 * networks lead to are where metadata services, databases and our own control sockets answer.
 */
import { type IpRange, isInRanges, parseIp, parseIpRange } from '../../../shared/ip-address.ts'
import { isLoopbackHost } from '../network/address.ts'
import { isPublicAddress } from './public-addresses.ts'

/** Who says where to, and so what is reachable. */
export interface OutgoingPolicy {
  /** Hosts that the operator's own settings name, in lower case: they may be in a private network. */
  namedHosts: ReadonlySet<string>
  /** Private ranges that the operator has opened for everything (CP_OUTGOING_ALLOW). */
  allowedRanges: readonly IpRange[]
}

/** Ranges whose addresses stand for others: translated to IPv4 (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380), and the old compatible form. */
const standIns = ['64:ff9b::/96', '2002::/16', '2001::/32', '::/96'].flatMap((cidr) => parseIpRange(cidr) ?? [])

/** Host of a URL as a resolver takes it: without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()

/** Whether what is sent there travels safely: https, or http within this machine. */
export const isSafeUrl = (url: URL): boolean =>
  url.username === '' && url.password === '' && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(hostOf(url))))

/** Whether an address that `host` has been resolved to may be connected to. */
export function isReachable(address: string, host: string, { namedHosts, allowedRanges }: OutgoingPolicy): boolean {
  if (parseIp(address) === undefined) return false
  if (namedHosts.has(host) || isInRanges(address, allowedRanges)) return true
  return isPublicAddress(address) && !isInRanges(address, standIns)
}
