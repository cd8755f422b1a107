import { type Static, Type } from '@sinclair/typebox'
import { parseShape } from './parse-shape.ts'

/**
 * What the authority asks of us while it validates a host: over HTTP the `keyAuthorization` at the path of its `token`
 * (RFC 8555 section 8.3), over TLS a certificate that names it, offered under the protocol `acme-tls/1` (RFC 8737).
 */
const Challenge = Type.Union([
  Type.Object({ kind: Type.Literal('http'), host: Type.String(), token: Type.String(), keyAuthorization: Type.String() }),
  Type.Object({ kind: Type.Literal('tls-alpn'), host: Type.String(), certificate: Type.String(), sealedKey: Type.String() }),
])

const ServedCertificate = Type.Object({
  id: Type.String({ minLength: 1 }),
  /** Host names it is served for; `*.` stands for exactly one label. */
  hosts: Type.Array(Type.String({ minLength: 1 })),
  certificate: Type.String({ minLength: 1 }),
  /** The key as PEM, sealed for `keyPurpose(id)`: this file stays on disk, and keys do not stand there in clear. */
  sealedKey: Type.String({ minLength: 1 }),
  /** Whether clients accept it: only then are they sent from http to https. A self-signed stand-in is not. */
  isTrusted: Type.Boolean(),
})
export type ServedCertificate = Static<typeof ServedCertificate>

/** Every certificate the ingress serves, as one value: it is applied whole or not at all. The most exact name wins. */
export const CertificateTable = Type.Object({
  version: Type.Integer({ minimum: 0 }),
  certificates: Type.Array(ServedCertificate),
  fallbackId: Type.Optional(Type.String()),
  challenges: Type.Array(Challenge),
})
export type CertificateTable = Static<typeof CertificateTable>

export const EMPTY_CERTIFICATE_TABLE: CertificateTable = { version: 0, certificates: [], challenges: [] }

/** What a key in the table is sealed for; `id` is the certificate's, or `challenge:<host>`. */
export const keyPurpose = (id: string): string => `certificate key ${id}`

export const parseCertificateTable = (value: unknown): CertificateTable => parseShape(CertificateTable, value, 'The certificates are')
