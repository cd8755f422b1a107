import { createHash } from 'node:crypto'
import { keyPurpose } from '../../../ingress/tables/certificate-table.ts'
import type { EdgeContext } from '../../context.ts'
import { newEcKey } from '../x509/ec-key.ts'
import { selfSign } from '../x509/self-sign.ts'
import type { IngressChallenge } from './challenges.ts'

/** id-pe-acmeIdentifier (RFC 8737 section 6.1). */
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31'
const OCTET_STRING = 0x04
const DAY_MS = 24 * 60 * 60 * 1000

/** Makes the certificate that answers TLS-ALPN-01. The library's own lacks the key usage without which BoringSSL refuses to serve it. */
export async function tlsChallenge(
  { sealer, now }: Pick<EdgeContext, 'sealer' | 'now'>,
  host: string,
  keyAuthorization: string,
): Promise<IngressChallenge> {
  const key = newEcKey()
  const hash = createHash('sha256').update(keyAuthorization).digest()
  const certificate = await selfSign(key, {
    commonName: host.slice(0, 64),
    hosts: [host],
    notBefore: now() - DAY_MS,
    notAfter: now() + DAY_MS,
    critical: { oid: ACME_IDENTIFIER, value: Buffer.concat([Buffer.from([OCTET_STRING, hash.length]), hash]) },
  })
  return { kind: 'tls-alpn', host, certificate, sealedKey: sealer.seal(key, keyPurpose(`challenge:${host}`)) }
}
