import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certificateOf } from '../../../../server/edge/certificates/store/certificates.ts'
import { chooseIngressPorts, type IngressPorts } from '../../../support/ingress.ts'
import { type Pebble, startPebble } from '../../../support/pebble.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { addDomain } from './world.ts'

let ports: IngressPorts
let pebble: Pebble

beforeAll(async () => {
  ports = await chooseIngressPorts()
  pebble = await startPebble({ httpPort: ports.http, tlsPort: ports.https })
})

afterAll(async () => {
  await pebble?.close()
})

/** Speaks TLS to the ingress; what does not lead to the root that is given, if one is, is not accepted. */
async function handshake(host: string, ca?: string): Promise<X509Certificate> {
  return await new Promise((resolve, reject) => {
    const socket = connect(
      {
        host: '127.0.0.1',
        port: ports.https,
        servername: host,
        ALPNProtocols: ['http/1.1'],
        ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
      },
      () => {
        const { raw } = socket.getPeerCertificate()
        socket.destroy()
        resolve(new X509Certificate(raw))
      },
    )
    socket.on('error', reject)
  })
}

describe.each(['http-01', 'tls-alpn-01'])('by %s through the real ingress', (challenge) => {
  let platform: Platform
  let service: TestService

  beforeAll(async () => {
    const acme = { CP_ACME_DIRECTORY: pebble.directory, CP_ACME_ROOT: pebble.rootFile, CP_ACME_CHALLENGE: challenge }
    platform = await startPlatform(acme, { tls: ports })
    service = await makeService(platform, { name: 'shop', type: 'web_service' })
  })

  afterAll(async () => {
    await platform?.close()
  })

  test('a host without a certificate is served with the self-signed one, and over http without a way to https', async () => {
    const standIn = await until('the stand-in is served', () => handshake('early.shop.example').catch(() => undefined))
    expect(standIn.subject).toBe('CN=cpd')
    await expect(handshake('early.shop.example', await pebble.issuerRoot())).rejects.toThrow()
    expect((await platform.ingress.visit('early.shop.example')).status).toBe(404)
  })

  test('a domain gets a certificate that a browser trusts, while it answers', async () => {
    const host = `www.${challenge}.example`
    addDomain(platform.context, service.id, host)
    platform.context.work.poke('certificates')
    await platform.context.routes.publish()
    await until('the certificate is there', () => {
      const { status, error } = certificateOf(platform.db, host)
      if (error !== undefined) throw new Error(error)
      return status === 'issued'
    })
    const leaf = await until('it is served', async () => handshake(host, await pebble.issuerRoot()).catch(() => undefined))
    expect(leaf.subjectAltName).toBe(`DNS:${host}`)
    const events = await service.events()
    expect(events.filter(({ type }) => type.startsWith('certificate'))).toEqual([
      { type: 'certificate_issued', details: expect.objectContaining({ domain: host }) },
    ])
  })

  test('http leads to https once there is a certificate', async () => {
    expect((await platform.ingress.visit(`www.${challenge}.example`)).status).toBeGreaterThanOrEqual(301)
    expect((await platform.ingress.visit(`www.${challenge}.example`)).status).toBeLessThanOrEqual(308)
  })
})
