import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Pebble, startPebble } from '../../../support/pebble.ts'
import { type Edge, keyFits, startEdge, startWorld, type World } from './world.ts'

const VALIDITY_SECONDS = 8

let edge: Edge
let pebble: Pebble
let world: World

beforeAll(async () => {
  edge = startEdge()
  pebble = await startPebble({ httpPort: edge.port, validitySeconds: VALIDITY_SECONDS })
  world = await startWorld(pebble, edge)
})

afterAll(async () => {
  await world?.close()
  await pebble?.close()
  edge.close()
})

test('a certificate is renewed before it ends, with another key, and the host is never without one', async () => {
  world.add('short.shop.example')
  const first = await world.served('short.shop.example')
  const tablesBefore = edge.tables.length
  const second = await world.served('short.shop.example', first)
  expect(Date.now()).toBeLessThan(Date.parse(first.validTo))
  expect(Date.now()).toBeGreaterThan(Date.parse(first.validFrom) + VALIDITY_SECONDS * 500)
  expect(second.publicKey.equals(first.publicKey)).toBe(false)
  expect(keyFits(world, 'short.shop.example')).toBe(true)
  const hosts = edge.tables
    .slice(tablesBefore)
    .map(({ certificates }) => certificates.filter(({ hosts }) => hosts.includes('short.shop.example')))
  expect(hosts.every((served) => served.length === 1)).toBe(true)
  const types = (await world.events()).map(({ type }) => type)
  expect(types.slice(0, 2)).toEqual(['certificate_issued', 'certificate_renewed'])
  expect(await pebble.statusOf(first.serialNumber)).toBe('Valid')
})

test('a certificate whose renewal fails is served as long as there is none better', async () => {
  const held = await world.served('short.shop.example')
  await pebble.stop()
  await world.served('short.shop.example', undefined)
  await Bun.sleep(Math.max(0, Date.parse(held.validTo) - Date.now()) + 500)
  const { certificate } = edge.table.certificates.find(({ hosts }) => hosts.includes('short.shop.example')) ?? {}
  expect(Date.parse(new X509Certificate(certificate ?? '').validTo)).toBeLessThan(Date.now())
  expect(world.status('short.shop.example')).toMatchObject({ status: 'issued', error: expect.stringMatching(/cannot be reached/) })
  await pebble.start()
  await world.served('short.shop.example', new X509Certificate(certificate ?? ''))
})
