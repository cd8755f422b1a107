import type { DnsRecord } from '../../../shared/custom-domain.ts'
import { isSpecialUse } from '../../../shared/domain.ts'
import { challengeNameOf } from './observation.ts'
import type { StoredDomain } from './store.ts'

export interface RecordTargets {
  host: string
  addresses: readonly string[]
}

/** Returns the records of which each proves a domain. An apex cannot be a CNAME (RFC 1034 section 3.6.2), so it gets addresses. */
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
