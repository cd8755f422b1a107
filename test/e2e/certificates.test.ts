import { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomDomain } from '../../shared/custom-domain.ts'
import { copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { chooseIngressPorts, type IngressPorts } from '../support/ingress.ts'
import { type Pebble, startPebble } from '../support/pebble.ts'
import { until } from '../support/until.ts'

const domain = 'www.shop-of-the-tests.com'

let ports: IngressPorts
let pebble: Pebble
let cpd: Compiled
let root: string

beforeAll(async () => {
  ports = await chooseIngressPorts()
  pebble = await startPebble({ httpPort: ports.http, tlsPort: ports.https })
  root = await pebble.issuerRoot()
  cpd = await startCompiled({
    ingressPort: ports.http,
    env: {
      CP_INGRESS_HTTPS: `127.0.0.1:${ports.https}`,
      CP_ACME_DIRECTORY: pebble.directory,
      CP_ACME_ROOT: pebble.rootFile,
      CP_DNS_RESOLVER: pebble.resolver,
    },
  })
})

afterAll(async () => {
  await cpd?.stop()
  await pebble?.close()
})

/** The certificate that a browser gets, which must lead to the authority's root. */
const handshake = (host: string): Promise<X509Certificate> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: ports.https, servername: host, ca: root }, () => {
      const { raw } = socket.getPeerCertificate()
      socket.destroy()
      resolve(new X509Certificate(raw))
    })
    socket.on('error', reject)
  })

test('the compiled cpd obtains a certificate for a domain that DNS proves, serves it, and has it revoked when the domain is removed', async () => {
  const app = copyApp('hello-js')
  expect(await cpd.cpctl(['deploy'], { cwd: app.dir })).toMatchObject({ exitCode: 0 })
  const added = await cpd.cpctl(['domains', 'add', 'hello-js', domain, '--json'])
  const [{ dnsRecords }] = JSON.parse(added.stdout) as [CustomDomain]
  const proof = dnsRecords.find(({ type }) => type === 'TXT')
  await pebble.resolve('/set-txt', { host: `${proof?.name}.`, value: proof?.value })
  expect(await cpd.cpctl(['domains', 'verify', 'hello-js', domain, '--wait'])).toMatchObject({ exitCode: 0 })
  const certificate = await until('it is served', () => handshake(domain).catch(() => undefined))
  expect(certificate.subjectAltName).toBe(`DNS:${domain}`)
  expect((await cpd.cpctl(['domains', 'list', 'hello-js'])).stdout).toMatch(/issued/)
  await cpd.cpctl(['domains', 'remove', 'hello-js', domain, '--yes'])
  await until('it is revoked', async () => (await pebble.statusOf(certificate.serialNumber)) === 'Revoked')
  await expect(handshake(domain)).rejects.toThrow()
  expect(cpd.output()).not.toContain('PRIVATE KEY')
  app.remove()
}, 120_000)
