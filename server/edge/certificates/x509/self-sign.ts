import { createPrivateKey, createPublicKey } from 'node:crypto'

export interface Signing {
  commonName: string
  hosts: string[]
  notBefore: number
  notAfter: number
  critical?: { oid: string; value: Uint8Array }
}

const SERIAL_BYTES = 16
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' }

/** Has a P-256 key (PEM, PKCS #8) make a certificate for itself, as PEM. The library is loaded when first needed, which is seldom. */
export async function selfSign(key: string, { commonName, hosts, notBefore, notAfter, critical }: Signing): Promise<string> {
  const x509 = await import('@peculiar/x509')
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${commonName}`,
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(SERIAL_BYTES))).toString('hex'),
    keys: await keyPairOf(key),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    extensions: [
      new x509.BasicConstraintsExtension(false),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.SubjectAlternativeNameExtension(hosts.map((value) => ({ type: 'dns', value }))),
      ...(critical === undefined ? [] : [new x509.Extension(critical.oid, true, critical.value)]),
    ],
  })
  return `${certificate.toString('pem')}\n`
}

async function keyPairOf(pem: string): Promise<CryptoKeyPair> {
  const privateDer = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })
  const publicDer = createPublicKey(pem).export({ type: 'spki', format: 'der' })
  return {
    privateKey: await crypto.subtle.importKey('pkcs8', privateDer, ALGORITHM, false, ['sign']),
    publicKey: await crypto.subtle.importKey('spki', publicDer, ALGORITHM, true, ['verify']),
  }
}
