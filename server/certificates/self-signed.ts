import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { Context } from '../context.ts'
import { newId } from '../id.ts'
import { keyPurpose } from '../ingress/certificate-table.ts'
import { newEcKey } from './acme/account.ts'
import { replaceCertificate } from './store.ts'

const LIFETIME_DAYS = 3650
const DAY_MS = 24 * 60 * 60 * 1000
/** A visitor's clock may be late. */
const BACKDATED_MS = DAY_MS
const SERIAL_BYTES = 16

/** Makes the certificate that hosts without one of their own are served with. Nobody trusts it, but nothing goes in clear. */
export async function renewSelfSigned(context: Pick<Context, 'db' | 'sealer' | 'now' | 'config'>): Promise<void> {
  const now = context.now()
  const key = newEcKey()
  const [notBefore, notAfter] = [now - BACKDATED_MS, now + LIFETIME_DAYS * DAY_MS]
  const chain = await selfSign(key, { baseDomain: context.config.CP_BASE_DOMAIN, notBefore, notAfter })
  const id = newId('certificate', now)
  const keySealed = context.sealer.seal(key, keyPurpose(id))
  const origin = { host: '', source: 'self_signed', directory: '', domainId: null, issuer: 'cpd' } as const
  context.db.transaction(() => replaceCertificate(context.db, { id, ...origin, chain, keySealed, notBefore, notAfter, createdAt: now }))()
}

interface Signing {
  baseDomain: string
  notBefore: number
  notAfter: number
}

/** Loaded when first needed, which is once in years. */
async function selfSign(key: string, { baseDomain, notBefore, notAfter }: Signing): Promise<string> {
  const { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } = await import('@peculiar/x509')
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=cpd',
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(SERIAL_BYTES))).toString('hex'),
    keys: await keyPairOf(key),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    extensions: [
      new BasicConstraintsExtension(false),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: baseDomain },
        { type: 'dns', value: `*.${baseDomain}` },
      ]),
    ],
  })
  return certificate.toString('pem')
}

async function keyPairOf(pem: string): Promise<CryptoKeyPair> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const key = createPrivateKey(pem)
  const [privateDer, publicDer] = [
    key.export({ type: 'pkcs8', format: 'der' }),
    createPublicKey(pem).export({ type: 'spki', format: 'der' }),
  ]
  return {
    privateKey: await crypto.subtle.importKey('pkcs8', privateDer, algorithm, false, ['sign']),
    publicKey: await crypto.subtle.importKey('spki', publicDer, algorithm, true, ['verify']),
  }
}
