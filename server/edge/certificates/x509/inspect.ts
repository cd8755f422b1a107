import { X509Certificate } from 'node:crypto'

/** What a certificate says of itself. Times are milliseconds since 1970. */
export interface CertificateFacts {
  /** Common name of who issued it, else the organization. */
  issuer: string
  notBefore: number
  notAfter: number
}

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** The certificates of a PEM text, in their order. */
export const blocksOf = (pem: string): string[] => pem.match(CERTIFICATE_BLOCK) ?? []

/** Of the first certificate of a chain. @throws Error when it is none. */
export function factsOf(chain: string): CertificateFacts {
  const certificate = new X509Certificate(blocksOf(chain)[0] ?? '')
  return {
    issuer: issuerOf(certificate),
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
  }
}

/** Names come as lines of `CN=…`; the common name says more than the organization. */
function issuerOf({ issuer }: X509Certificate): string {
  const fields = new Map(issuer.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  return fields.get('CN') ?? fields.get('O') ?? issuer.replaceAll('\n', ', ')
}
