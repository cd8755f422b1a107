import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { Service } from '../../../../shared/service.ts'
import { createService, deployApp, deployEnd, upload } from '../../../support/apps.ts'
import { tarGz } from '../../../support/archives.ts'
import { call } from '../../../support/client.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { probe, proberApp } from '../../../support/prober.ts'
import { until } from '../../../support/until.ts'

const TIMEOUT = { timeout: 120_000 }
const isRoot = process.getuid?.() === 0

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_BUILD_CONCURRENCY: '4' })
})
afterAll(() => platform.close())

/** Answers with its own words at each of these places, whatever PORT says. */
async function listening(words: string, places: readonly [number, string][]): Promise<Uint8Array<ArrayBuffer>> {
  const code = places
    .map(([port, host]) => `require('node:http').createServer((_, response) => response.end('${words}')).listen(${port}, '${host}')`)
    .join('\n')
  return new Uint8Array(
    await tarGz([
      { name: 'server.js', content: code },
      { name: 'package.json', content: '{}' },
    ]),
  )
}

async function failure(name: string, places: readonly [number, string][]): Promise<Deploy> {
  const id = await createService(platform, { name })
  const { body } = await upload(platform, id, await listening('x', places))
  return await deployEnd(platform, id, body.deployId)
}

const ask = <T>(path: string) => call<T>(`${platform.url}/v1${path}`, { token: platform.adminToken })
const textOf = async (path: string): Promise<string> => JSON.stringify((await ask(path)).body)

const buildLogOf = (id: string): Promise<string> => textOf(`/logs?resource=${id}&type=build,platform&limit=100`)

test.runIf(isRoot)('an app on another port is reached there, and its deploy says so', TIMEOUT, async () => {
  const id = await createService(platform, { name: 'stubborn' })
  const archive = await listening('here', [
    [3000, '0.0.0.0'],
    [9000, '127.0.0.1'],
  ])
  const { deploy } = await deployApp(platform, id, archive)
  expect(await platform.ingress.visit('stubborn.localhost')).toEqual({ status: 200, text: 'here' })
  await until('the log tells of the port', async () => (await buildLogOf(id)).includes('It listens on port 3000 and not on $PORT (10000)'))
  // The next instance of the release begins where the one before was found.
  const restarted = await call(`${platform.url}/v1/services/${id}/restart`, { method: 'POST', token: platform.adminToken })
  expect(restarted.status).toBe(200)
  const portsNow = () =>
    platform.db
      .query<{ port: number }, [string, string]>(
        `SELECT port FROM instances WHERE deploy_id = ? AND generation > 0 AND phase = 'serving' AND service_id = ?`,
      )
      .all(deploy.id, id)
  await until('the restart is done', () => portsNow().length === 1)
  expect(portsNow()).toEqual([{ port: 3000 }])
  expect((await platform.ingress.visit('stubborn.localhost')).text).toBe('here')
})

test.runIf(isRoot)('an app on several other ports, or on loopback only, fails at once and is told which', TIMEOUT, async () => {
  const [several, hidden] = await Promise.all([
    failure('several', [
      [3001, '0.0.0.0'],
      [3002, '0.0.0.0'],
    ]),
    failure('hidden', [[3003, '127.0.0.1']]),
  ])
  expect(several).toMatchObject({
    status: 'update_failed',
    reason: expect.stringContaining('ports 3001 and 3002, and not on $PORT (10000)'),
  })
  expect(hidden).toMatchObject({ status: 'update_failed', reason: expect.stringContaining('127.0.0.1:3003 only') })
})

test.runIf(isRoot)('a private service listens where it wants, and is reached at all of its ports by name', TIMEOUT, async () => {
  const store = await createService(platform, { name: 'store', type: 'private_service' })
  const archive = await listening('kept', [
    [6379, '0.0.0.0'],
    [16_379, '0.0.0.0'],
  ])
  const named = await createService(platform, {
    name: 'named',
    type: 'private_service',
    envVars: [{ key: 'PORT', value: '5433' }],
  })
  await Promise.all([
    deployApp(platform, store, archive),
    deployApp(platform, named, await listening('named', [[5433, '127.0.0.1']])),
    deployApp(platform, await createService(platform, { name: 'asks' }), await proberApp()),
  ])
  const places = ['store:6379', 'store:16379', 'named:5433']
  await until('all are reached', async () => {
    const answers = Object.values(await probe(platform, 'asks.localhost', places))
    return answers.join() === 'connected kept,connected kept,connected named'
  })
  const urls = await Promise.all([store, named].map(async (id) => (await ask<Service>(`/services/${id}`)).body.serviceDetails.url))
  expect(urls).toEqual(['store:6379', 'named:5433'])
  await until('the log tells of the ports', async () => (await buildLogOf(store)).includes('reach it at store:6379, store:16379'))
})

test('PORT is the platform’s to give to a web service, and a private service’s own to set, if it is one', async () => {
  const web = await createService(platform, { name: 'plain-web' })
  const store = await createService(platform, { name: 'plain-store', type: 'private_service' })
  const set = async (id: string, value: string) =>
    (await call(`${platform.url}/v1/services/${id}/env-vars/PORT`, { method: 'PUT', json: { value }, token: platform.adminToken })).status
  expect(await set(web, '6379')).toBe(400)
  for (const value of ['80', '65536', 'x', '06379', '']) expect([value, await set(store, value)]).toEqual([value, 400])
  expect(await set(store, '6379')).toBe(200)
})
