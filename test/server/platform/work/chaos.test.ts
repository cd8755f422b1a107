import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { Service } from '../../../../shared/service.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { randomNumbers } from '../../../support/random-numbers.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const STEPS = 50
const LONGEST_PAUSE_MS = 120

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_HEALTH_TIMEOUT_SECONDS: '5', CP_RELEASES_KEPT: '2', CP_BUILD_CONCURRENCY: '2' })
})
afterAll(() => platform.close())

const mortal = {
  'server.js': `
    const { createServer } = require('node:http')
    createServer((request, response) => request.url === '/die' ? process.exit(1) : response.end('fine')).listen(process.env.PORT, '127.0.0.1')
    process.on('SIGTERM', () => process.exit(0))`,
}
const post = (service: TestService, path: string, json?: unknown) =>
  service.ask(path, { method: 'POST', ...(json === undefined ? {} : { json }) })

/** What may be asked of a service at any moment; refusals are fine, failures of ours are not. */
const requests: ((service: TestService, below: (limit: number) => number) => Promise<{ status: number }>)[] = [
  async (service) => ({ status: (await service.upload('hello-js', mortal)) === '' ? 500 : 201 }),
  async (service) => ({ status: (await service.upload('hello-js', { 'server.js': 'setInterval(() => {}, 1000)' })) === '' ? 500 : 201 }),
  async (service) => ({ status: (await service.upload('crashes')) === '' ? 500 : 201 }),
  (service) => post(service, '/deploys', { deployMode: 'deploy_only' }),
  (service) => post(service, '/deploys'),
  (service) => post(service, '/restart'),
  (service) => post(service, '/rollback'),
  (service, below) => post(service, '/scale', { numInstances: 1 + below(3) }),
  (service) => post(service, '/suspend'),
  (service) => post(service, '/resume'),
  (service) => post(service, '/resume'),
  async (service) => {
    const [newest] = (await service.ask<{ deploy: Deploy }[]>('/deploys?limit=1')).body
    return await post(service, `/deploys/${newest?.deploy.id}/cancel`)
  },
  async (service) => ({ status: (await platform.ingress.visit(`${service.name}.localhost`, '/die')).status && 200 }),
]

async function disturb(service: TestService, seed: number): Promise<void> {
  const below = randomNumbers(seed)
  for (let step = 0; step < STEPS; step++) {
    const request = requests[below(requests.length)]
    const reply = await request?.(service, below)
    expect(reply?.status, `seed ${seed}, step ${step}`).toBeLessThan(500)
    await sleep(below(LONGEST_PAUSE_MS))
  }
}

async function comesToRest(service: TestService): Promise<void> {
  await post(service, '/resume')
  await until('no deploy is on its way', async () =>
    (await service.ask<{ deploy: Deploy }[]>('/deploys?limit=100')).body.every(({ deploy }) => deploy.finishedAt !== undefined),
  )
  const last = await service.upload('hello-js', { VERSION: 'last' })
  expect(await service.ends(last)).toMatchObject({ status: 'live' })
  const { numInstances = 0 } = (await service.ask<Service>('')).body.serviceDetails
  await service.settles(...Array.from({ length: numInstances }, () => 'running' as const))
  expect((await platform.ingress.visit(`${service.name}.localhost`)).text).toBe('hello-js last\n')
}

test('services that are asked for everything at any moment come to rest with what was asked last', async () => {
  const services = await Promise.all([1, 2].map((seed) => makeService(platform, { name: `chaos-${seed}` })))
  await Promise.all(services.map((service) => service.goLive('hello-js', mortal)))
  await Promise.all(services.map((service, index) => disturb(service, index + 1)))
  await Promise.all(services.map(comesToRest))
  const { engine, db, paths } = platform.context
  const known = new Set(
    db
      .query<{ id: string }, []>('SELECT id FROM instances')
      .all()
      .map(({ id }) => id),
  )
  expect((await engine.list()).filter(({ instanceId }) => !known.has(instanceId))).toEqual([])
  expect(platform.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  for (const service of services) {
    const own = servicePathsOf(paths, service.id)
    await until('only what is kept is left', () => readdirSync(own.builds).length === 0 && readdirSync(own.releases).length <= 2)
    expect(readdirSync(own.secrets)).toHaveLength(1)
  }
}, 120_000)
