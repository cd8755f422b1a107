import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService, deployApp } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { greeterApp, probe, proberApp } from '../../../support/prober.ts'
import { until } from '../../../support/until.ts'

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

test('there, too, an app is found at the port where it listens of its own accord', { timeout: 120_000 }, async () => {
  const [port = 0] = freePorts(1)
  const store = await createService(platform, {
    name: 'store',
    type: 'private_service',
    envVars: [{ key: 'PORT', value: '6380' }],
  })
  await deployApp(platform, store, await greeterApp('by its own port', String(port)))
  await deployApp(platform, await createService(platform, { name: 'asks' }), await proberApp())
  const ask = async () => Object.values(await probe(platform, 'asks.localhost', ['store:10000', `store:${port}`, 'store:6380']))
  await until('all ways lead there', async () => new Set(await ask()).size === 1 && (await ask())[0] === 'connected by its own port')
})

test('what cannot be promised there is said', async () => {
  const missing = (await platform.context.engine.guarantees()).filter(({ holds }) => !holds)
  expect(missing.map(({ id }) => id)).toEqual(expect.arrayContaining(['own-network', 'private-network', 'no-control-egress']))
  for (const { reason } of missing.filter(({ id }) => id.endsWith('network'))) expect(reason).toBe('CP_INSTANCE_SUBNET is off')
})
