import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService, deployApp } from '../../support/apps.ts'
import { call } from '../../support/client.ts'
import { type Platform, startPlatform } from '../../support/platform.ts'
import { greeterApp, probe, proberApp } from '../../support/prober.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_INSTANCE_SUBNET: 'off' })
})
afterAll(() => platform.close())

test('where all share the network of the machine, siblings reach a service by its name all the same', async () => {
  const backend = await createService(platform, { name: 'Backend', type: 'private_service', serviceDetails: {} })
  await deployApp(platform, backend, await greeterApp('one'))
  await deployApp(platform, await createService(platform, { name: 'front' }), await proberApp())
  const ask = async () => Object.values(await probe(platform, 'front.localhost', ['backend:10000']))
  expect(await ask()).toEqual(['connected one'])
  await deployApp(platform, backend, await greeterApp('two'))
  expect(await ask()).toEqual(['connected two'])
  const { body } = await call<{ serviceDetails: { url: string } }>(`${platform.url}/v1/services/${backend}`, { token: platform.adminToken })
  expect(body.serviceDetails.url).toBe('backend:10000')
})

test('what cannot be promised there is said', async () => {
  const missing = (await platform.context.engine.guarantees()).filter(({ holds }) => !holds)
  expect(missing.map(({ id }) => id)).toEqual(expect.arrayContaining(['own-network', 'private-network', 'no-control-egress']))
  for (const { reason } of missing.filter(({ id }) => id.endsWith('network'))) expect(reason).toBe('CP_INSTANCE_SUBNET is off')
})
