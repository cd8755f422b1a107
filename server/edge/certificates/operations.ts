import type { CertificateState, CertificateUpload } from '../../../shared/certificate.ts'
import { AppError } from '../../../shared/error.ts'
import { recordEvent } from '../../apps/events/store.ts'
import type { StoredService } from '../../apps/services/store.ts'
import { keyPurpose } from '../../ingress/tables/certificate-table.ts'
import { newId } from '../../platform/id.ts'
import type { EdgeContext } from '../context.ts'
import type { StoredDomain } from '../domains/store.ts'
import { certificateOf, certificatesFor, deleteCertificate, replaceCertificate } from './store/certificates.ts'
import { acceptUpload } from './upload-rules.ts'

interface Owned {
  service: StoredService
  domain: StoredDomain
}

/** Serves the caller's own certificate from now on. @throws AppError conflict for an unverified domain, validation_failed for what cannot be served. */
export function useOwnCertificate(context: EdgeContext, { service, domain }: Owned, upload: CertificateUpload): CertificateState {
  const { db, sealer } = context
  const now = context.now()
  if (domain.verifiedAt === null) {
    throw new AppError(
      'conflict',
      `${domain.name} is not verified yet. Set its DNS records, have it verified, and set the certificate then.`,
    )
  }
  const { key, ...accepted } = acceptUpload(upload, { host: domain.name, now })
  const id = newId('certificate', now)
  const keySealed = sealer.seal(key, keyPurpose(id))
  const origin = { host: domain.name, source: 'uploaded', directory: '', domainId: domain.id } as const
  db.transaction(() => {
    replaceCertificate(db, { id, ...origin, ...accepted, keySealed, createdAt: now })
    const details = { domain: domain.name, issuer: accepted.issuer, expiresAt: new Date(accepted.notAfter).toISOString() }
    recordEvent(db, { owner: service, type: 'certificate_uploaded', details, now })
  })()
  context.work.poke('certificates')
  return certificateOf(db, domain.name)
}

export function dropOwnCertificate(context: EdgeContext, { service, domain }: Owned): void {
  const { db } = context
  const held = certificatesFor(db, domain.name).find(({ source }) => source === 'uploaded')
  if (held === undefined) throw new AppError('not_found', `${domain.name} has no certificate of your own.`)
  db.transaction(() => {
    deleteCertificate(db, held.id)
    recordEvent(db, { owner: service, type: 'certificate_removed', details: { domain: domain.name }, now: context.now() })
  })()
  context.work.poke('certificates')
}
