import type { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renewalAt } from '../../../../server/edge/certificates/plan.ts'
import { certificatesFor, type StoredCertificate } from '../../../../server/edge/certificates/store/certificates.ts'
import { type Pebble, startPebble } from '../../../support/pebble.ts'
import { until } from '../../../support/until.ts'
import { type Edge, keyFits, startEdge, startWorld, type World } from './world.ts'

const HOST = 'short.shop.example'
const VALIDITY_MS = 24 * 3_600_000

let edge: Edge
let pebble: Pebble
let world: World

beforeAll(async () => {
  edge = startEdge()
  pebble = await startPebble({ httpPort: edge.port, validitySeconds: VALIDITY_MS / 1000 })
  world = await startWorld(pebble, edge)
})

afterAll(async () => {
  await world?.close()
  await pebble?.close()
  edge.close()
})

/** The certificate from the authority that is in use. */
const held = (): StoredCertificate => certificatesFor(world.context.db, HOST)[0] as StoredCertificate

/** Lets a part of the life of the certificate in use have passed. */
function age(part: number): void {
  const shift = part * VALIDITY_MS
  world.context.db
    .query('UPDATE certificates SET not_before = not_before - ?1, not_after = not_after - ?1 WHERE id = ?2')
    .run(shift, held().id)
}

async function renewed(other: X509Certificate): Promise<X509Certificate> {
  world.poke()
  return await world.served(HOST, other)
}

test('a certificate is renewed before it ends, with another key, and the host is never without one', async () => {
  world.add(HOST)
  const first = await world.served(HOST)
  expect(renewalAt(held()) - Date.now()).toBeGreaterThan(VALIDITY_MS / 2)
  age(0.7)
  expect(held().notAfter).toBeGreaterThan(Date.now())
  const tablesBefore = edge.tables.length
  const second = await renewed(first)
  expect(second.publicKey.equals(first.publicKey)).toBe(false)
  expect(keyFits(world, HOST)).toBe(true)
  const hosts = edge.tables.slice(tablesBefore).map(({ certificates }) => certificates.filter((one) => one.hosts.includes(HOST)))
  expect(hosts.every((served) => served.length === 1)).toBe(true)
  expect((await world.events()).map(({ type }) => type).slice(0, 2)).toEqual(['certificate_issued', 'certificate_renewed'])
  expect(await pebble.statusOf(first.serialNumber)).toBe('Valid')
})

test('a certificate whose renewal fails is served as long as there is none better', async () => {
  const served = await world.served(HOST)
  await pebble.stop()
  age(1.5)
  world.poke()
  await until('its renewal has failed', () => world.status(HOST).error !== undefined)
  expect(held().notAfter).toBeLessThan(Date.now())
  expect((await world.served(HOST)).serialNumber).toBe(served.serialNumber)
  expect(world.status(HOST)).toMatchObject({ status: 'issued', error: expect.stringMatching(/cannot be reached/) })
  await pebble.start()
  await renewed(served)
})
