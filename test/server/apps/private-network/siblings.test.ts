import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Service } from '../../../../shared/service.ts'
import { createService, deployApp } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { greeterApp, probe, proberApp } from '../../../support/prober.ts'

let plane: ControlPlane
let backend: string
const caller = () => ({ url: plane.url, adminToken: plane.adminToken })
const asks = async (places: string[]) => Object.values(await probe(plane, 'front.localhost', places))
const serviceOf = async (id: string) => (await call<Service>(`${plane.url}/v1/services/${id}`, { token: plane.adminToken })).body

beforeAll(async () => {
  plane = await startControlPlane({ CP_DRAIN_SECONDS: '5' })
  backend = await createService(caller(), { name: 'Back End', type: 'private_service' })
  await deployApp(caller(), backend, await greeterApp('one'))
  await deployApp(caller(), await createService(caller(), { name: 'front' }), await proberApp())
})
afterAll(() => plane.close())

test('a private service says by which name and port its siblings reach it, and they do', async () => {
  const { serviceDetails, slug } = await serviceOf(backend)
  expect(serviceDetails).toMatchObject({ url: `${slug}:10000`, openPorts: [{ port: 10_000, protocol: 'TCP' }] })
  expect(slug).toBe('back-end')
  expect(await asks(['back-end:10000'])).toEqual(['connected one'])
})

test('siblings are answered while a new release takes the place of the old one, and none of their requests is lost', async () => {
  let isOver = false
  const answers: string[] = []
  const ask = async () => {
    while (!isOver) answers.push(...(await asks(['back-end:10000'])))
  }
  const asking = Array.from({ length: 8 }, ask)
  for (const words of ['two', 'three']) await deployApp(caller(), backend, await greeterApp(words))
  await expect.poll(() => answers.at(-1)).toBe('connected three')
  isOver = true
  await Promise.all(asking)
  expect(answers.length).toBeGreaterThan(50)
  expect([...new Set(answers)].sort()).toEqual(['connected one', 'connected three', 'connected two'])
})

test('a pre-deploy command reaches siblings, too', async () => {
  const code =
    "require('http').get('http://back-end:10000', (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(2))"
  const id = await createService(caller(), {
    name: 'migrating',
    serviceDetails: { envSpecificDetails: { preDeployCommand: `node -e "${code}"` } },
  })
  await deployApp(caller(), id, await greeterApp('migrated'))
})

test('names and traffic go on while the control plane is dead, and when it comes back', async () => {
  await plane.kill()
  expect(await asks(['back-end:10000'])).toEqual(['connected three'])
  await plane.start()
  expect(await asks(['back-end:10000'])).toEqual(['connected three'])
  await deployApp(caller(), backend, await greeterApp('four'))
  expect(await asks(['back-end:10000'])).toEqual(['connected four'])
})

test('a name leads nowhere at once while its service is suspended, and is gone with it', async () => {
  const { slug } = await serviceOf(backend)
  await call(`${plane.url}/v1/services/${backend}/suspend`, { method: 'POST', token: plane.adminToken })
  await expect.poll(() => asks([`${slug}:10000`]), { timeout: 10_000 }).toEqual([expect.stringMatching(/ECONNREFUSED|EHOSTUNREACH/)])
  await call(`${plane.url}/v1/services/${backend}`, { method: 'DELETE', token: plane.adminToken })
  await expect.poll(() => asks([`${slug}:10000`]), { timeout: 10_000 }).toEqual([expect.stringMatching(/ENOTFOUND|EAI_AGAIN/)])
})
