import { keyPurpose } from '../../ingress/tables/certificate-table.ts'
import { newId } from '../../platform/id.ts'
import type { EdgeContext } from '../context.ts'
import { replaceCertificate } from './store/certificates.ts'
import { newEcKey } from './x509/ec-key.ts'
import { selfSign } from './x509/self-sign.ts'

const LIFETIME_DAYS = 3650
const DAY_MS = 24 * 60 * 60 * 1000
const BACKDATED_MS = DAY_MS

/** Makes the stand-in for hosts without a certificate. Nobody trusts it, but nothing goes in clear. */
export async function renewSelfSigned(context: Pick<EdgeContext, 'db' | 'sealer' | 'now' | 'config'>): Promise<void> {
  const { CP_BASE_DOMAIN: baseDomain } = context.config
  const now = context.now()
  const key = newEcKey()
  const [notBefore, notAfter] = [now - BACKDATED_MS, now + LIFETIME_DAYS * DAY_MS]
  const chain = await selfSign(key, { commonName: 'cpd', hosts: [baseDomain, `*.${baseDomain}`], notBefore, notAfter })
  const id = newId('certificate', now)
  const keySealed = context.sealer.seal(key, keyPurpose(id))
  const origin = { host: '', source: 'self_signed', directory: '', domainId: null, issuer: 'cpd' } as const
  context.db.transaction(() => replaceCertificate(context.db, { id, ...origin, chain, keySealed, notBefore, notAfter, createdAt: now }))()
}
