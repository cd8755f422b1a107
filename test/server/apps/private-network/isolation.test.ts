import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Environment, Project } from '../../../../shared/project.ts'
import { createService, deployApp } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { greeterApp, held, hold, probe, proberApp } from '../../../support/prober.ts'
import { until } from '../../../support/until.ts'

let plane: ControlPlane
let production: string
const caller = () => ({ url: plane.url, adminToken: plane.adminToken })

const send = async <T>(method: string, path: string, json?: unknown): Promise<T> =>
  (await call<T>(`${plane.url}/v1${path}`, { method, token: plane.adminToken, ...(json !== undefined && { json }) })).body

beforeAll(async () => {
  plane = await startControlPlane()
  const { environmentIds } = await send<Project>('POST', '/projects', { name: 'shop', environments: [{ name: 'production' }] })
  production = environmentIds[0] ?? ''
  const vault = await createService(caller(), { name: 'vault', type: 'private_service', environmentId: production })
  await deployApp(caller(), vault, await greeterApp('I am vault'))
  await deployApp(caller(), await createService(caller(), { name: 'outside' }), await proberApp())
  await deployApp(caller(), await createService(caller(), { name: 'inside', environmentId: production }), await proberApp())
}, 120_000)
afterAll(() => plane.close())

const asks = async (name: string): Promise<string> =>
  ((await probe(plane, `${name}.localhost`, ['vault:10000']))['vault:10000'] ?? '').replace('EAI_AGAIN', 'ENOTFOUND')

test('what a control plane had written of isolation when it was killed is in force with the next one, and open connections go on', async () => {
  await hold(plane, 'outside.localhost', ['vault:10000'])
  await until('it is held', async () => (await held(plane, 'outside.localhost'))[0]?.answers !== 0)
  for (const isIsolated of [true, false, true]) {
    // The answer may never come, and the change may have been written or not.
    const asked = send('PATCH', `/environments/${production}`, { networkIsolationEnabled: isIsolated }).catch(() => {})
    await plane.kill()
    await asked
    await plane.start()
    const { networkIsolationEnabled: isNow } = await send<Environment>('GET', `/environments/${production}`)
    await until('it is in force', async () => (await asks('outside')) === (isNow ? 'ENOTFOUND' : 'connected I am vault'))
    await until('its members know each other', async () => (await asks('inside')) === 'connected I am vault')
  }
  const [before] = await held(plane, 'outside.localhost')
  await until('it goes on', async () => ((await held(plane, 'outside.localhost'))[0]?.answers ?? 0) > (before?.answers ?? 0) + 2)
  expect((await held(plane, 'outside.localhost'))[0]).not.toHaveProperty('end')
}, 120_000)
