import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIngressClient } from '../../../../server/ingress/control/client.ts'
import { type RunningIngress, runIngress } from '../../../../server/ingress/process/main.ts'
import type { CertificateTable } from '../../../../server/ingress/tables/certificate-table.ts'
import { createSealer } from '../../../../server/platform/secrets/seal.ts'
import { greet, startTlsWorld, type TlsWorld } from './tls-world.ts'

let world: TlsWorld

beforeEach(async () => {
  world = await startTlsWorld()
})

afterEach(() => world.close())

const file = () => join(world.dir, 'certificates.json')

const startAgain = (): Promise<RunningIngress> =>
  runIngress({
    listen: { host: '127.0.0.1', port: 0 },
    tls: {
      listen: { host: '127.0.0.1', port: 0 },
      certificatesFilePath: file(),
      openKey: createSealer(Buffer.alloc(32, 7)).open,
    },
    controlSocketPath: world.controlSocketPath,
    routesFilePath: world.routesFilePath,
    version: 'test',
    trustedProxies: [],
    log: (line) => world.logged.push(line),
  })

test('what was published is on disk for our own user alone, without a key in clear', async () => {
  const certificate = await world.certify('c1', ['a.test'])
  const challenge = await world.tlsChallenge('b.test')
  await world.serve([certificate], { challenges: [challenge] })
  await greet(world, 'a.test')
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  const text = readFileSync(file(), 'utf8')
  expect(JSON.parse(text)).toMatchObject({ certificates: [{ id: 'c1', sealedKey: certificate.sealedKey }] })
  expect(text).toContain('BEGIN CERTIFICATE')
  expect(text).not.toContain('PRIVATE KEY')
  expect(world.logged.join()).not.toContain('PRIVATE KEY')
})

test('an ingress that starts shows the last certificates without a control plane', async () => {
  await world.serve([await world.certify('c1', ['a.test'])], { fallbackId: 'c1' })
  await world.client.shutdown()
  await world.ingress.closed
  const next = await startAgain()
  const at = { tlsPort: next.tlsAddress?.port ?? 0, rootFile: world.rootFile }
  expect((await greet(at, 'a.test')).isTrusted).toBe(true)
  expect((await greet(at, undefined)).name).toBe('a.test')
  await next.close()
})

test('saved certificates that cannot be read do not keep the ingress from starting', async () => {
  await world.ingress.close()
  writeFileSync(file(), '{"version":')
  const next = await startAgain()
  expect(world.logged.join('\n')).toContain('The saved certificates could not be read')
  await next.close()
})

test('what was overtaken on its way is refused, a control plane that starts anew is believed', async () => {
  const [first, second] = [await world.certify('c1', ['a.test']), await world.certify('c2', ['b.test'])]
  const table = (version: number, certificates: CertificateTable['certificates']) => ({ version, certificates, challenges: [] })
  await world.client.publishCertificates(table(500, [first]))
  await expect(world.client.publishCertificates(table(499, [second]))).rejects.toMatchObject({ code: 'conflict' })
  expect((await greet(world, 'a.test')).name).toBe('a.test')
  await createIngressClient(world.controlSocketPath).publishCertificates(table(3, [second]))
  expect((await greet(world, 'a.test')).name).toBe(undefined)
  expect((await greet(world, 'b.test')).name).toBe('b.test')
  expect((await world.client.status()).certificatesVersion).toBe(3)
})

test('what is no table of certificates is refused whole', async () => {
  await world.serve([await world.certify('c1', ['a.test'])])
  const wrong = { version: 2, certificates: [{ id: 'c2' }], challenges: [] }
  await expect(world.client.publishCertificates(wrong as never)).rejects.toMatchObject({ code: 'validation_failed' })
  expect((await greet(world, 'a.test')).name).toBe('a.test')
})

test('the ingress says where it listens for TLS', async () => {
  expect(await world.client.status()).toMatchObject({ listenTls: { host: '127.0.0.1', port: world.tlsPort } })
})
