import { networkInterfaces } from 'node:os'
import { isInRanges, parseIpRange } from '../../../shared/ip-address.ts'
import type { PlatformSettings } from '../settings/rows.ts'

/** RFC 6890's special-purpose ranges, to which the internet does not lead. */
const notPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/128',
  '::1/128',
  '64:ff9b:1::/48',
  '100::/64',
  '2001:db8::/32',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
].flatMap((cidr) => parseIpRange(cidr) ?? [])

export const isPublicAddress = (address: string): boolean => !isInRanges(address, notPublic)

/** Addresses at which the world reaches this machine: those set, else the public ones of its own interfaces. Behind NAT there are none. */
export function publicAddressesOf({ CP_PUBLIC_ADDRESSES }: Pick<PlatformSettings, 'CP_PUBLIC_ADDRESSES'>): readonly string[] {
  if (CP_PUBLIC_ADDRESSES.length > 0) return CP_PUBLIC_ADDRESSES
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address)
    .filter(isPublicAddress)
}
