import { AppError } from '../../../shared/error.ts'
import { createReportedCount } from '../limits/reported-count.ts'
import type { Transport } from '../serve/transport.ts'
import { type CertificateTable, parseCertificateTable } from '../tables/certificate-table.ts'
import type { PublishedTable } from '../tables/publication.ts'
import { Certificates } from './certificates.ts'
import { createTlsTransport } from './transport.ts'

export interface TlsOptions {
  listen?: { host: string; port: number }
  certificatesFilePath: string
  openKey(sealed: string, purpose: string): string
}

export interface TlsSide {
  certificates: Certificates
  table: PublishedTable<CertificateTable> | undefined
  transport: Transport
  stop(): void
}

export function createTlsSide(options: TlsOptions | undefined, log: (line: string) => void): TlsSide {
  const failures = createReportedCount((count, reason) =>
    log(`${count} TLS handshakes came to nothing, the first one because of: ${reason}`),
  )
  const certificates = new Certificates({ openKey: options?.openKey ?? noKey, log })
  const { transport, refresh } = createTlsTransport({ certificates, failures, log })
  const table: PublishedTable<CertificateTable> | undefined = options && {
    name: 'certificates',
    filePath: options.certificatesFilePath,
    parse: parseCertificateTable,
    apply(next) {
      certificates.apply(next)
      refresh()
    },
    log,
  }
  return { certificates, table, transport, stop: () => failures.stop() }
}

function noKey(): never {
  throw new AppError('not_configured', 'This ingress was started without a way to open keys.')
}
