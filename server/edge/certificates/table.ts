import { type CertificateTable, EMPTY_CERTIFICATE_TABLE, type ServedCertificate } from '../../ingress/tables/certificate-table.ts'
import type { IngressChallenge } from './acme/challenges.ts'
import type { StoredCertificate } from './store/certificates.ts'

/** Returns what the ingress serves: the best certificate for each host. The publisher sets its version. */
export function buildCertificateTable(held: StoredCertificate[], challenges: IngressChallenge[], now: number): CertificateTable {
  const inUse = held.filter(({ removedAt }) => removedAt === null)
  const fallback = inUse.find(({ source }) => source === 'self_signed')
  const byHost = Map.groupBy(
    inUse.filter((certificate) => certificate !== fallback),
    ({ host }) => host,
  )
  const best = [...byHost.values()].map((candidates) => candidates.toSorted((a, b) => rank(a, now) - rank(b, now))[0] as StoredCertificate)
  return {
    ...EMPTY_CERTIFICATE_TABLE,
    certificates: [...best, ...(fallback === undefined ? [] : [fallback])].map(served),
    ...(fallback === undefined ? {} : { fallbackId: fallback.id }),
    challenges,
  }
}

const rank = ({ source, notAfter }: StoredCertificate, now: number): number => (notAfter > now ? 0 : 2) + (source === 'uploaded' ? 0 : 1)

const served = ({ id, host, chain, keySealed, source }: StoredCertificate): ServedCertificate => ({
  id,
  hosts: host === '' ? [] : [host],
  certificate: chain,
  sealedKey: keySealed,
  isTrusted: source !== 'self_signed',
})
