import type { DnsRecord } from '../../../shared/custom-domain.ts'
import { isSpecialUse } from '../../../shared/domain.ts'
import { challengeNameOf } from './observation.ts'
import type { StoredDomain } from './store.ts'

export interface RecordTargets {
  /** Name of the service below the base domain. */
  host: string
  /** Of this machine, as the world sees it. */
  addresses: readonly string[]
}

/**
 * The records that prove a domain, each kind on its own. An apex cannot be a CNAME (RFC 1034 section 3.6.2), and a name that public
 * DNS does not know is no use as its target: both get addresses.
 */
export function dnsRecordsOf(
  { name, domainType, challenge }: Pick<StoredDomain, 'name' | 'domainType' | 'challenge'>,
  { host, addresses }: RecordTargets,
): DnsRecord[] {
  const isAddressed = domainType === 'apex' || isSpecialUse(host)
  const places: DnsRecord[] = isAddressed
    ? addresses.map((value) => ({ type: value.includes(':') ? 'AAAA' : 'A', name, value }))
    : [{ type: 'CNAME', name, value: host }]
  return [...places, { type: 'TXT', name: challengeNameOf(name), value: challenge }]
}
