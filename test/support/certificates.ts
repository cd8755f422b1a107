import {
  BasicConstraintsExtension,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  type X509Certificate as X509,
  X509CertificateGenerator,
} from '@peculiar/x509'

const DAY_MS = 24 * 60 * 60 * 1000

export type KeyKind = 'P-256' | 'P-384' | 'P-521' | { rsaBits: number }

export interface CertificateOptions {
  /** Host names; none makes an authority. */
  names?: string[]
  subject?: string
  /** Absent: it signs itself. */
  issuer?: TestCertificate
  notBefore?: number
  notAfter?: number
  key?: KeyKind
  /** Bits of what it may be used for; absent says nothing. */
  usages?: number
}

export interface TestCertificate {
  /** PEM. */
  certificate: string
  /** PEM (PKCS #8). */
  privateKey: string
  parsed: X509
  keys: CryptoKeyPair
}

/** A certificate as the test wants it, good or bad. */
export async function makeCertificate({
  names = [],
  subject,
  issuer,
  key = 'P-256',
  usages,
  ...times
}: CertificateOptions): Promise<TestCertificate> {
  const keys = await makeKeys(key)
  const signingKey = (issuer?.keys ?? keys).privateKey
  const parsed = await X509CertificateGenerator.create({
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex'),
    subject: `CN=${subject ?? names[0] ?? 'An authority'}`,
    issuer: issuer?.parsed.subject ?? `CN=${subject ?? names[0] ?? 'An authority'}`,
    notBefore: new Date(times.notBefore ?? Date.now() - DAY_MS),
    notAfter: new Date(times.notAfter ?? Date.now() + 90 * DAY_MS),
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: { ...signingKey.algorithm, hash: 'SHA-256' },
    extensions: [
      new BasicConstraintsExtension(names.length === 0),
      ...(usages === undefined ? [] : [new KeyUsagesExtension(usages, true)]),
      ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value })))]),
    ],
  })
  return { certificate: `${parsed.toString('pem')}\n`, privateKey: await pemOf(keys.privateKey), parsed, keys }
}

async function makeKeys(kind: KeyKind): Promise<CryptoKeyPair> {
  const algorithm =
    typeof kind === 'string'
      ? { name: 'ECDSA', namedCurve: kind }
      : { name: 'RSASSA-PKCS1-v1_5', modulusLength: kind.rsaBits, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
  return (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair
}

async function pemOf(key: CryptoKey): Promise<string> {
  const body = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64')
  return `-----BEGIN PRIVATE KEY-----\n${body.replaceAll(/.{64}/g, '$&\n').trim()}\n-----END PRIVATE KEY-----\n`
}
