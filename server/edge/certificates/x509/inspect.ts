import { X509Certificate } from 'node:crypto'

/** Times are milliseconds since 1970; `issuer` is a common name, else an organization. */
export interface CertificateFacts {
  issuer: string
  notBefore: number
  notAfter: number
}

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

export const blocksOf = (pem: string): string[] => pem.match(CERTIFICATE_BLOCK) ?? []

/** Reads the first certificate of a chain. @throws Error when there is none. */
export function factsOf(chain: string): CertificateFacts {
  const certificate = new X509Certificate(blocksOf(chain)[0] ?? '')
  return {
    issuer: issuerOf(certificate),
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
  }
}

function issuerOf({ issuer }: X509Certificate): string {
  const fields = new Map(issuer.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  return fields.get('CN') ?? fields.get('O') ?? issuer.replaceAll('\n', ', ')
}
