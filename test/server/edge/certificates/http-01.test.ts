import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Pebble, startPebble } from '../../../support/pebble.ts'
import { until } from '../../../support/until.ts'
import { type Edge, heldHosts, keyFits, startEdge, startWorld, type World } from './world.ts'

let edge: Edge
let pebble: Pebble
let world: World

beforeAll(async () => {
  edge = startEdge()
  pebble = await startPebble({ httpPort: edge.port, nonceRejectPercent: 20 })
  world = await startWorld(pebble, edge, { env: { CP_ACME_EMAIL: 'ops@example.com' } })
}, 60_000)

afterAll(async () => {
  await world?.close()
  await pebble?.close()
  edge.close()
})

test('a verified domain gets a certificate that leads to the root of the authority, also where good nonces are refused', async () => {
  world.add('www.shop.example')
  expect(world.status('www.shop.example').status).toMatch(/none|pending/)
  const leaf = await world.served('www.shop.example')
  expect(leaf.subjectAltName).toBe('DNS:www.shop.example')
  expect(keyFits(world, 'www.shop.example')).toBe(true)
  const { certificate, isTrusted } = edge.table.certificates.find(({ hosts }) => hosts.includes('www.shop.example')) ?? {}
  expect(isTrusted).toBe(true)
  const [, intermediate] = (certificate ?? '').split(/(?<=-----END CERTIFICATE-----\n)/)
  const root = new X509Certificate(await pebble.issuerRoot())
  expect(new X509Certificate(intermediate ?? '').checkIssued(root)).toBe(true)
  expect(world.status('www.shop.example')).toMatchObject({ status: 'issued', issuer: expect.stringContaining('Pebble') })
  expect(await world.events()).toEqual([{ type: 'certificate_issued', details: expect.objectContaining({ domain: 'www.shop.example' }) }])
}, 60_000)

test('the answer to a challenge is withdrawn once the authority has seen it', async () => {
  await until('no challenge is shown', () => edge.table.challenges.length === 0)
  expect(edge.tables.some(({ challenges }) => challenges.length > 0)).toBe(true)
})

test('every table has a self-signed stand-in that is said not to be trusted', async () => {
  const fallback = edge.table.certificates.find(({ id }) => id === edge.table.fallbackId)
  expect(fallback).toMatchObject({ hosts: [], isTrusted: false })
  const certificate = new X509Certificate(fallback?.certificate ?? '')
  expect(certificate.verify(certificate.publicKey)).toBe(true)
  expect(Date.parse(certificate.validTo) - Date.now()).toBeGreaterThan(5 * 365 * 24 * 3600 * 1000)
})

test('the certificate of a removed domain is served no longer, revoked, and forgotten', async () => {
  world.add('gone.shop.example')
  const { serialNumber } = await world.served('gone.shop.example')
  expect(await pebble.statusOf(serialNumber)).toBe('Valid')
  world.remove('gone.shop.example')
  await until('it is revoked', async () => (await pebble.statusOf(serialNumber)) === 'Revoked')
  expect(edge.table.certificates.flatMap(({ hosts }) => hosts)).not.toContain('gone.shop.example')
  await until('it is forgotten', () => !heldHosts(world).includes('gone.shop.example'))
  expect(edge.table.certificates.flatMap(({ hosts }) => hosts)).toContain('www.shop.example')
}, 60_000)

test('no key stands in the database or the log in clear', async () => {
  const rows = JSON.stringify([
    world.context.db.query('SELECT * FROM certificates').all(),
    world.context.db.query('SELECT * FROM acme_accounts').all(),
  ])
  expect(rows).toContain('v1.')
  expect(rows + world.server.logged.join('') + JSON.stringify(edge.tables)).not.toContain('PRIVATE KEY')
})
