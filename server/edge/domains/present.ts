import type { CustomDomain, DnsRecord } from '../../../shared/custom-domain.ts'
import { hostOf } from '../../apps/services/addresses.ts'
import type { StoredService } from '../../apps/services/store.ts'
import { publicAddressesOf } from '../../platform/outgoing/public-addresses.ts'
import { certificateOf } from '../certificates/store/certificates.ts'
import type { EdgeContext } from '../context.ts'
import { dnsRecordsOf } from './records.ts'
import type { StoredDomain } from './store.ts'

export const recordsFor = (
  context: Pick<EdgeContext, 'config'>,
  service: Pick<StoredService, 'slug'>,
  domain: Pick<StoredDomain, 'name' | 'domainType' | 'challenge'>,
): DnsRecord[] => dnsRecordsOf(domain, { host: hostOf(context, service.slug), addresses: publicAddressesOf(context.config) })

export function presentDomain(context: Pick<EdgeContext, 'config' | 'db'>, service: StoredService, domain: StoredDomain): CustomDomain {
  const { check, checkedAt } = domain
  return {
    id: domain.id,
    name: domain.name,
    domainType: domain.domainType,
    publicSuffix: domain.publicSuffix,
    redirectForName: '',
    verificationStatus: domain.verifiedAt === null ? 'unverified' : 'verified',
    createdAt: new Date(domain.createdAt).toISOString(),
    server: { id: service.id, name: service.name },
    dnsRecords: recordsFor(context, service, domain),
    certificate: certificateOf(context.db, domain.name),
    isCheckPending: domain.requestedAt !== null || (domain.checkedAt === null && domain.verifiedAt === null),
    ...(check === null || checkedAt === null ? {} : { lastCheck: { checkedAt: new Date(checkedAt).toISOString(), ...check } }),
  }
}
