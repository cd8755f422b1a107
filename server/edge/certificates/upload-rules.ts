import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { CertificateUpload } from '../../../shared/certificate.ts'
import { AppError } from '../../../shared/error.ts'
import { blocksOf, type CertificateFacts, factsOf } from './x509/inspect.ts'

export interface AcceptedUpload extends CertificateFacts {
  chain: string
  key: string
}

const MAX_CHAIN_LENGTH = 8
const MIN_RSA_BITS = 2048
const curves = ['prime256v1', 'secp384r1']

/** Returns PEM of the certificates alone and of the key (PKCS #8). @throws AppError validation_failed naming the field and what to bring instead. */
export function acceptUpload({ certificate, privateKey }: CertificateUpload, { host, now }: { host: string; now: number }): AcceptedUpload {
  const chain = readChain(certificate)
  const key = readKey(privateKey)
  const own = chain[0] as X509Certificate
  refuseStrangeKey(chain, key)
  refuseBrokenChain(chain)
  for (const link of chain) refuseWrongTime(link, now)
  if (own.checkHost(host, { subject: 'never' }) === undefined) {
    throw refusal('certificate', `The certificate is for ${namesOf(own)}, not for ${host}. Bring one that names it.`)
  }
  const accepted = { chain: `${chain.map(pemOf).join('\n')}\n`, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() }
  refuseUnusable(accepted)
  return { ...accepted, ...factsOf(accepted.chain) }
}

function readChain(text: string): X509Certificate[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw refusal(
      'certificate',
      'A private key stands in the certificate field. Put it into privateKey alone, and treat this one as known to others.',
    )
  }
  const blocks = blocksOf(text)
  if (blocks.length === 0)
    throw refusal('certificate', 'This is no certificate in PEM: a text that begins with -----BEGIN CERTIFICATE-----.')
  if (blocks.length > MAX_CHAIN_LENGTH)
    throw refusal('certificate', `A chain has at most ${MAX_CHAIN_LENGTH} certificates, this one has ${blocks.length}.`)
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block)
    } catch (cause) {
      throw refusal('certificate', `Certificate ${index + 1} of the chain cannot be read. Was it cut off?`, cause)
    }
  })
}

function readKey(text: string): KeyObject {
  if (/ENCRYPTED/.test(text)) {
    throw refusal('privateKey', 'The key is encrypted with a passphrase. Decrypt it first: openssl pkey -in key.pem -out plain.pem')
  }
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw refusal('privateKey', 'This is no key in PEM: a text that begins with -----BEGIN PRIVATE KEY-----.')
  }
  const key = parseKey(text)
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType === 'rsa') {
    if (modulusLength >= MIN_RSA_BITS) return key
    throw refusal('privateKey', `The RSA key has ${modulusLength} bits; browsers want at least ${MIN_RSA_BITS}.`)
  }
  if (key.asymmetricKeyType === 'ec' && curves.includes(namedCurve)) return key
  throw refusal('privateKey', 'Browsers accept RSA keys and elliptic ones of P-256 or P-384 only. Have a certificate made for such a key.')
}

/** Files of elliptic keys often begin with their parameters, so only the block of the key is read. */
function parseKey(text: string): KeyObject {
  const [block = ''] = text.match(/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?-----END \1-----/) ?? []
  try {
    return createPrivateKey(block)
  } catch (cause) {
    throw refusal('privateKey', 'The key cannot be read. Was it cut off?', cause)
  }
}

function refuseStrangeKey(chain: X509Certificate[], key: KeyObject): void {
  const position = chain.findIndex((certificate) => certificate.checkPrivateKey(key))
  if (position === 0) return
  if (position > 0) throw refusal('certificate', wrongOrder)
  throw refusal('privateKey', 'The key does not belong to the certificate. Bring the one that the certificate was asked for with.')
}

const wrongOrder = "The chain is in the wrong order: the host's own certificate comes first, then the one that issued it, and so on."

function refuseBrokenChain(chain: X509Certificate[]): void {
  chain.slice(1).forEach((issuer, index) => {
    const issued = chain[index] as X509Certificate
    if (hasIssued(issuer, issued)) return
    const hasIssuer = chain.some((other) => other !== issued && hasIssued(other, issued))
    const broken = `The chain is broken: certificate ${index + 2} has not issued certificate ${index + 1}. Bring the chain as the authority gave it.`
    throw refusal('certificate', hasIssuer ? wrongOrder : broken)
  })
}

const hasIssued = (issuer: X509Certificate, issued: X509Certificate): boolean =>
  issued.checkIssued(issuer) && issued.verify(issuer.publicKey)

function refuseWrongTime({ validFrom, validTo, subject }: X509Certificate, now: number): void {
  const name = subject.replaceAll('\n', ', ') || 'the certificate'
  if (Date.parse(validTo) <= now) throw refusal('certificate', `It has expired: ${name} ended at ${isoTime(validTo)}.`)
  if (Date.parse(validFrom) > now) throw refusal('certificate', `It is not valid yet: ${name} begins at ${isoTime(validFrom)}.`)
}

/** The TLS library has the last word: a certificate for another purpose fits all rules above. */
function refuseUnusable({ chain, key }: { chain: string; key: string }): void {
  try {
    createSecureContext({ cert: chain, key })
  } catch (cause) {
    const reason = cause instanceof Error && 'reason' in cause ? String(cause.reason) : 'for no reason that is told'
    throw refusal('certificate', `TLS does not take this certificate (${reason}). Have one made for a web server.`, cause)
  }
}

const isoTime = (text: string): string => new Date(text).toISOString()

const pemOf = (certificate: X509Certificate): string => certificate.toString().trim()

const namesOf = ({ subjectAltName }: X509Certificate): string =>
  subjectAltName === undefined || subjectAltName === '' ? 'no host name' : subjectAltName.replaceAll(/DNS:|IP Address:/g, '')

const refusal = (field: keyof CertificateUpload, message: string, cause?: unknown): AppError =>
  new AppError('validation_failed', message, { details: [{ path: `/${field}`, message }], cause })
