import { createPrivateKey, X509Certificate } from 'node:crypto'
import { KeyUsageFlags } from '@peculiar/x509'
import { beforeAll, describe, expect, test } from 'vitest'
import { acceptUpload } from '../../../../server/edge/certificates/upload-rules.ts'
import type { CertificateUpload } from '../../../../shared/certificate.ts'
import { AppError } from '../../../../shared/error.ts'
import { makeCertificate, type TestCertificate } from '../../../support/certificates.ts'

const host = 'www.shop.example'
const now = Date.now()
const DAY_MS = 24 * 60 * 60 * 1000

let root: TestCertificate
let middle: TestCertificate
let own: TestCertificate
let other: TestCertificate

beforeAll(async () => {
  root = await makeCertificate({ subject: 'The root' })
  middle = await makeCertificate({ subject: 'The middle', issuer: root })
  own = await makeCertificate({ names: [host], issuer: middle })
  other = await makeCertificate({ names: [host] })
})

const accept = (upload: CertificateUpload) => acceptUpload(upload, { host, now })

function refused(upload: CertificateUpload): { message: string; path: string | undefined } {
  try {
    accept(upload)
  } catch (error) {
    if (error instanceof AppError && error.code === 'validation_failed') return { message: error.message, path: error.details[0]?.path }
    throw error
  }
  throw new Error('It was accepted')
}

const signed = ({ certificate, privateKey }: TestCertificate) => ({ certificate, privateKey })
const made = async (options: Parameters<typeof makeCertificate>[0]) => signed(await makeCertificate(options))

describe('accepted is', () => {
  test('a chain in its order, with who issued it and when it ends', () => {
    const accepted = accept({ certificate: own.certificate + middle.certificate, privateKey: own.privateKey })
    expect(accepted).toMatchObject({ issuer: 'The middle', notAfter: Date.parse(new X509Certificate(own.certificate).validTo) })
    expect(accepted.chain).toBe(own.certificate + middle.certificate)
  })

  test('the certificate without those that issued it, and with the root too', () => {
    accept(signed(own))
    accept({ certificate: own.certificate + middle.certificate + root.certificate, privateKey: own.privateKey })
  })

  test('a wildcard that covers the host', async () => {
    accept(await made({ names: ['*.shop.example'] }))
  })

  test.each(['P-384', { rsaBits: 2048 }] as const)('a key of %o', async (key) => {
    accept(await made({ names: [host], key }))
  })

  test('a text with Windows line ends and words around the blocks, which are not kept', () => {
    const certificate = `Bag Attributes\n${own.certificate}\nsubject=CN = x\n`.replaceAll('\n', '\r\n')
    const { chain } = accept({ certificate, privateKey: own.privateKey })
    expect(new X509Certificate(chain).raw).toEqual(new X509Certificate(own.certificate).raw)
    expect(chain).not.toContain('Bag')
  })

  test('an elliptic key in its older form with its parameters in front', () => {
    const key = createPrivateKey(own.privateKey).export({ type: 'sec1', format: 'pem' })
    const privateKey = `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${key}`
    expect(accept({ certificate: own.certificate, privateKey }).key).toContain('-----BEGIN PRIVATE KEY-----')
  })
})

describe('refused with what to do is', () => {
  test.each<[string, () => CertificateUpload | Promise<CertificateUpload>, string, RegExp]>([
    ['a text that is no PEM', () => ({ ...signed(own), certificate: 'MIIB' }), '/certificate', /no certificate in PEM/],
    [
      'a key in the place of the certificate',
      () => ({ ...signed(own), certificate: own.privateKey }),
      '/certificate',
      /private key stands/,
    ],
    [
      'a key beside the certificate',
      () => ({ ...signed(own), certificate: own.certificate + own.privateKey }),
      '/certificate',
      /private key stands/,
    ],
    [
      'a certificate that was cut off',
      () => ({ ...signed(own), certificate: own.certificate.replace(/(.{60})\n.*\n/, '$1\n') }),
      '/certificate',
      /cannot be read/,
    ],
    ['a certificate in the place of the key', () => ({ ...signed(own), privateKey: own.certificate }), '/privateKey', /no key in PEM/],
    [
      'a key that was cut off',
      () => ({ ...signed(own), privateKey: own.privateKey.replace(/(.{60})\n/, '\n') }),
      '/privateKey',
      /cannot be read/,
    ],
    [
      'an encrypted key',
      () => ({ ...signed(own), privateKey: own.privateKey.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE') }),
      '/privateKey',
      /openssl pkey/,
    ],
    ['a key of another certificate', () => ({ ...signed(own), privateKey: other.privateKey }), '/privateKey', /does not belong/],
    [
      'a certificate that has expired',
      () => made({ names: [host], notBefore: now - 3 * DAY_MS, notAfter: now - DAY_MS }),
      '/certificate',
      /expired/,
    ],
    ['one that is not valid yet', () => made({ names: [host], notBefore: now + DAY_MS }), '/certificate', /not valid yet/],
    ['one for another host', () => made({ names: ['shop.example'] }), '/certificate', /for shop\.example, not for www/],
    ['a wildcard of another level', () => made({ names: ['*.www.shop.example'] }), '/certificate', /not for www/],
    ['one that names the host as its common name only', () => made({ subject: host }), '/certificate', /no host name/],
    ['a chain upside down', () => ({ ...signed(own), certificate: middle.certificate + own.certificate }), '/certificate', /wrong order/],
    [
      'a chain with its issuers swapped',
      () => ({ ...signed(own), certificate: own.certificate + root.certificate + middle.certificate }),
      '/certificate',
      /wrong order/,
    ],
    ['a chain with a gap', () => ({ ...signed(own), certificate: own.certificate + root.certificate }), '/certificate', /chain is broken/],
    [
      'a chain with a stranger',
      () => ({ ...signed(own), certificate: own.certificate + other.certificate }),
      '/certificate',
      /chain is broken/,
    ],
    ['an RSA key of 1024 bits', () => made({ names: [host], key: { rsaBits: 1024 } }), '/privateKey', /1024 bits/],
    ['a curve that browsers do not know', () => made({ names: [host], key: 'P-521' }), '/privateKey', /P-256 or P-384/],
    ['a chain without end', () => ({ ...signed(own), certificate: own.certificate.repeat(9) }), '/certificate', /at most 8/],
  ])('%s', async (_, upload, path, message) => {
    const refusal = refused(await upload())
    expect(refusal.message).toMatch(message)
    expect(refusal.path).toBe(path)
  })

  test('an issuer of the same name that has not signed', async () => {
    const impostor = await makeCertificate({ subject: 'The middle' })
    expect(refused({ ...signed(own), certificate: own.certificate + impostor.certificate }).message).toMatch(/chain is broken/)
  })

  test('a certificate that is meant for something else than TLS', async () => {
    const strange = await makeCertificate({ names: [host], usages: KeyUsageFlags.keyCertSign })
    expect(refused(signed(strange)).message).toMatch(/TLS does not take this certificate \(KEY_USAGE_BIT_INCORRECT\)/)
  })

  test('an issuer that has expired', async () => {
    const late = await makeCertificate({ subject: 'Late', notBefore: now - 3 * DAY_MS, notAfter: now - DAY_MS })
    const leaf = await makeCertificate({ names: [host], issuer: late })
    expect(refused({ ...signed(leaf), certificate: leaf.certificate + late.certificate }).message).toMatch(/expired: CN=Late/)
  })
})
