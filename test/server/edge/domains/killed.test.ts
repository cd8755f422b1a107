import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomDomain } from '../../../../shared/custom-domain.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { type NameServer, startNameServer } from '../../../support/name-server.ts'
import { until } from '../../../support/until.ts'

const ADDRESS = '203.0.113.7'
const ROUNDS = 12
/** A check of the test's name server and what follows take less. */
const LONGEST_LIFE_MS = 40

let dns: NameServer
let plane: ControlPlane
let serviceId: string

beforeAll(async () => {
  dns = await startNameServer()
  plane = await startControlPlane({ CP_DNS_RESOLVER: dns.address, CP_PUBLIC_ADDRESSES: ADDRESS })
  const made = await api<{ service: { id: string } }>('/v1/services', { json: { type: 'static_site', name: 'site' } })
  serviceId = made.body.service.id
})
afterAll(async () => {
  await plane.close()
  await dns.close()
})

const api = <T>(path: string, options: { json?: unknown; method?: string } = {}) =>
  call<T>(plane.url + path, { ...options, token: plane.adminToken })
const domains = (rest = '') => `/v1/services/${serviceId}/custom-domains${rest}`
const statusAt = async (host: string) => (await plane.ingress.visit(host)).status

async function dieAfter(ms: number): Promise<void> {
  await Bun.sleep(ms)
  await plane.kill()
  await plane.start()
}

/** The site was never deployed: its route is there, and says so. */
const ROUTED = 503
const UNKNOWN = 404

test('a domain added right before the control plane is killed is verified and routed by the next one', { timeout: 120_000 }, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const name = `killed-${round}.com`
    await dns.a(name, ADDRESS)
    expect((await api(domains(), { json: { name } })).status).toBe(201)
    await dieAfter((LONGEST_LIFE_MS * round) / ROUNDS)
    await until(`${name} is verified`, async () => (await api<CustomDomain>(domains(`/${name}`))).body.verificationStatus === 'verified')
    await until(`${name} is routed`, async () => (await statusAt(name)) === ROUTED)
  }
})

test('a check asked for right before the control plane is killed is made by the next one', { timeout: 120_000 }, async () => {
  const name = 'asked.com'
  await api(domains(), { json: { name } })
  await until('it was looked at', async () => !(await api<CustomDomain>(domains(`/${name}`))).body.isCheckPending)
  await dns.a(name, ADDRESS)
  expect((await api(domains(`/${name}/verify`), { method: 'POST' })).status).toBe(202)
  await dieAfter(0)
  await until('it is verified', async () => (await api<CustomDomain>(domains(`/${name}`))).body.verificationStatus === 'verified')
})

test('a domain removed right before the control plane is killed is routed no more by the next one', { timeout: 120_000 }, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const name = `killed-${round}.com`
    expect((await api(domains(`/${name}`), { method: 'DELETE' })).status).toBe(204)
    await dieAfter((LONGEST_LIFE_MS * round) / ROUNDS)
    await until(`${name} is routed no more`, async () => (await statusAt(name)) === UNKNOWN)
  }
})
