import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { domainNamed } from '../../../../server/edge/domains/store.ts'
import { type CertificateOptions, makeCertificate } from '../../../support/certificates.ts'
import { call } from '../../../support/client.ts'
import { type Pebble, startPebble } from '../../../support/pebble.ts'
import { until } from '../../../support/until.ts'
import { addDomain, type Edge, heldHosts, keyFits, startEdge, startWorld, type World } from './world.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const host = 'own.shop.example'

let edge: Edge
let pebble: Pebble
let world: World
const clock = { aheadMs: 0 }

beforeAll(async () => {
  edge = startEdge()
  pebble = await startPebble({ httpPort: edge.port })
  world = await startWorld(pebble, edge, { clock })
})

afterAll(async () => {
  await world?.close()
  await pebble?.close()
  edge.close()
})

async function put(name: string, options: CertificateOptions) {
  const { certificate, privateKey } = await makeCertificate(options)
  const path = `/v1/services/${world.serviceId}/custom-domains/${name}/certificate`
  const reply = await call<{ message: string }>(world.server.url + path, {
    method: 'PUT',
    json: { certificate, privateKey },
    token: world.server.adminToken,
  })
  // In production the route pokes; here work is idle.
  world.poke()
  return { ...reply, serial: new X509Certificate(certificate).serialNumber }
}

const take = (name: string) =>
  call(`${world.server.url}/v1/services/${world.serviceId}/custom-domains/${name}/certificate`, {
    method: 'DELETE',
    token: world.server.adminToken,
  })

test("an uploaded certificate goes before the authority's, which stays and takes over again when it is removed", async () => {
  world.add(host)
  const issued = await world.served(host)
  const reply = await put(host, { names: [host], subject: 'Mine', notAfter: Date.now() + 300 * DAY_MS })
  expect(reply).toMatchObject({ status: 200, body: { status: 'uploaded', issuer: 'Mine' } })
  expect((await world.served(host, issued)).serialNumber).toBe(reply.serial)
  expect(keyFits(world, host)).toBe(true)
  expect((await take(host)).status).toBe(204)
  world.poke()
  await until("the authority's is served", async () => (await world.served(host)).serialNumber === issued.serialNumber)
  expect((await take(host)).status).toBe(404)
  expect((await world.events()).map(({ type }) => type)).toEqual(['certificate_issued', 'certificate_uploaded', 'certificate_removed'])
})

test('while an uploaded one is in use none is asked of the authority, and when it ends one is', async () => {
  addDomain(world.context, world.serviceId, 'mine.shop.example')
  const { serial } = await put('mine.shop.example', { names: ['mine.shop.example'], notAfter: Date.now() + 20 * DAY_MS })
  expect((await world.served('mine.shop.example')).serialNumber).toBe(serial)
  expect(heldHosts(world).filter((held) => held === 'mine.shop.example')).toHaveLength(1)
  clock.aheadMs = 10 * DAY_MS
  world.poke()
  const warning = await until('its owner is told', async () => (await world.events()).find(({ type }) => type === 'certificate_expiring'))
  expect(warning.details).toMatchObject({ domain: 'mine.shop.example', message: expect.stringContaining('ends soon') })
  clock.aheadMs = 21 * DAY_MS
  world.poke()
  const own = edge.table.certificates.find(({ hosts }) => hosts.includes('mine.shop.example'))
  const next = await world.served('mine.shop.example', new X509Certificate(own?.certificate ?? ''))
  expect(next.issuer).toContain('Pebble')
  expect((await world.events()).filter(({ type }) => type === 'certificate_expiring')).toHaveLength(1)
  clock.aheadMs = 0
})

test('an uploaded one that is replaced is served at once, and goes with its domain', async () => {
  addDomain(world.context, world.serviceId, 'twice.shop.example')
  const first = await put('twice.shop.example', { names: ['twice.shop.example'] })
  const served = await world.served('twice.shop.example')
  expect(served.serialNumber).toBe(first.serial)
  const second = await put('twice.shop.example', { names: ['*.shop.example'] })
  expect((await world.served('twice.shop.example', served)).serialNumber).toBe(second.serial)
  world.remove('twice.shop.example')
  expect(heldHosts(world)).not.toContain('twice.shop.example')
  await until('it is served no longer', () => !edge.table.certificates.some(({ hosts }) => hosts.includes('twice.shop.example')))
})

test('a domain that is not verified gets none, and a strange one is not found', async () => {
  addDomain(world.context, world.serviceId, 'unproven.shop.example')
  world.context.db
    .query('UPDATE custom_domains SET verified_at = NULL WHERE id = ?')
    .run(domainNamed(world.context.db, 'unproven.shop.example')?.id ?? '')
  const unproven = await put('unproven.shop.example', { names: ['unproven.shop.example'] })
  expect([unproven.status, unproven.body.message]).toEqual([409, expect.stringContaining('not verified yet')])
  expect((await put('strange.shop.example', { names: ['strange.shop.example'] })).status).toBe(404)
})

test('a refusal says what is wrong and where', async () => {
  addDomain(world.context, world.serviceId, 'wrong.shop.example')
  const { status, body } = await put('wrong.shop.example', { names: ['other.shop.example'] })
  expect(status).toBe(400)
  expect(body).toMatchObject({ code: 'validation_failed', details: [{ path: '/certificate' }] })
})

test('no uploaded key stands in the database or the log in clear', async () => {
  addDomain(world.context, world.serviceId, 'sealed.shop.example')
  const { certificate, privateKey } = await makeCertificate({ names: ['sealed.shop.example'] })
  const path = `/v1/services/${world.serviceId}/custom-domains/sealed.shop.example/certificate`
  await call(world.server.url + path, { method: 'PUT', json: { certificate, privateKey }, token: world.server.adminToken })
  const body = privateKey.split('\n')[1] ?? ''
  const written = JSON.stringify([
    world.context.db.query('SELECT * FROM certificates').all(),
    world.context.db.query('SELECT * FROM events').all(),
  ])
  expect(written).toContain('sealed.shop.example')
  expect(written + world.server.logged.join('')).not.toContain(body)
})
