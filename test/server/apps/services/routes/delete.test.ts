import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servicePathsOf } from '../../../../../server/platform/paths.ts'
import type { Event } from '../../../../../shared/event.ts'
import { packApp, upload } from '../../../../support/apps.ts'
import { call } from '../../../../support/client.ts'
import { type Platform, startPlatform } from '../../../../support/platform.ts'
import { makeService, type TestService } from '../../../../support/service.ts'
import { until } from '../../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

const neverUp = { 'server.js': 'setInterval(() => {}, 1000)' }
const longBuild = { 'package.json': JSON.stringify({ name: 'long', scripts: { build: 'sleep 60', start: 'node server.js' } }) }
const deletion = (service: TestService) => service.ask('', { method: 'DELETE' })

/** Whatever of a service is left anywhere, as lines for people. Its events stay on purpose. */
async function leftOf({ id, name }: TestService): Promise<string[]> {
  const { db, engine, paths, logStore } = platform.context
  const rows = ['deploys', 'instances', 'sources', 'releases', 'env_vars', 'secret_files'].flatMap((table) => {
    const found = db.query<{ count: number }, [string]>(`SELECT count(*) AS count FROM ${table} WHERE service_id = ?`).get(id)
    return found?.count ? [`${found.count} rows in ${table}`] : []
  })
  const { logs } = await logStore.query({ resource: [id] })
  return [
    ...rows,
    ...(db.query('SELECT id FROM services WHERE id = ?').get(id) === null ? [] : ['its row']),
    ...(await engine.list()).filter(({ ownerId }) => ownerId === id).map(({ instanceId }) => `workload ${instanceId}`),
    ...(existsSync(servicePathsOf(paths, id).root) ? ['its folder'] : []),
    ...readdirSync(paths.uploads).map((file) => `upload ${file}`),
    ...logs.map(({ message }) => `log line ${message}`),
    ...((await platform.ingress.visit(`${name}.localhost`)).status === 404 ? [] : ['its route']),
  ]
}

async function isGone(service: TestService): Promise<void> {
  const row = 'SELECT id FROM services WHERE id = ?'
  await until('the row is gone', () => platform.db.query(row).get(service.id) === null)
  expect(await leftOf(service)).toEqual([])
}

test('a deleted service is gone for callers at once, and leaves no process, folder, row, log line or route', async () => {
  const service = await makeService(platform, {
    name: 'gone',
    envVars: [{ key: 'A', value: '1' }],
    secretFiles: [{ name: 'f', content: 'x' }],
  })
  await service.goLive('hello-js')
  await service.settles('running')
  expect((await deletion(service)).status).toBe(204)
  expect((await service.ask('')).status).toBe(404)
  await isGone(service)
})

test('its name and host are free at once', async () => {
  const first = await makeService(platform, { name: 'again' })
  await first.goLive('hello-js', { VERSION: 'first' })
  await deletion(first)
  const second = await makeService(platform, { name: 'again' })
  await second.goLive('hello-js', { VERSION: 'second' })
  expect((await platform.ingress.visit('again.localhost')).text).toBe('hello-js second\n')
  await deletion(second)
  await isGone(second)
})

test('a service that was never deployed is gone', async () => {
  const service = await makeService(platform, { name: 'empty' })
  await deletion(service)
  await isGone(service)
})

test('a static site and a suspended service lose their routes', async () => {
  const site = await makeService(platform, { name: 'site', type: 'static_site' })
  await site.goLive('static-plain')
  const sleeper = await makeService(platform, { name: 'sleeper' })
  await sleeper.goLive('hello-js')
  await sleeper.ask('/suspend', { method: 'POST' })
  await sleeper.settles()
  for (const service of [site, sleeper]) {
    await deletion(service)
    await isGone(service)
  }
})

test('a deletion during a build ends the build, and the deploy that waits behind it', async () => {
  const service = await makeService(platform, { name: 'builds' })
  const deployId = await service.upload('hello-js', longBuild)
  await service.upload('hello-js')
  await service.reaches(deployId, 'build_in_progress')
  await until('the build runs', async () => (await platform.context.engine.list()).some(({ ownerId }) => ownerId === service.id))
  await deletion(service)
  await isGone(service)
})

test('a deletion during a cut-over ends both releases', async () => {
  const service = await makeService(platform, { name: 'cuts-over' })
  await service.goLive('hello-js')
  const deployId = await service.upload('hello-js', neverUp)
  await service.reaches(deployId, 'update_in_progress')
  await service.settles('running', 'starting')
  await deletion(service)
  await isGone(service)
  expect(platform.logged.filter((line) => line.includes('deploy stopped'))).toEqual([])
})

test('a deletion during an upload refuses the upload and leaves nothing of it', async () => {
  const service = await makeService(platform, { name: 'uploads' })
  const archive = await packApp('hello-js', { filler: 'x'.repeat(100_000) })
  const { promise: isDeleted, resolve: goOn } = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(archive.slice(0, 200))
      await isDeleted
      controller.enqueue(archive.slice(200))
      controller.close()
    },
  })
  const reply = call(`${platform.url}/v1/services/${service.id}/source/upload`, {
    raw: body,
    token: platform.adminToken,
    headers: { 'content-type': 'application/gzip' },
  })
  await until('the upload has begun', () => readdirSync(platform.context.paths.uploads).length > 0)
  await deletion(service)
  await until('the row is gone', () => platform.db.query('SELECT id FROM services WHERE id = ?').get(service.id) === null)
  goOn()
  expect((await reply).status).toBe(404)
  expect(await leftOf(service)).toEqual([])
})

test('a service that is suspended during an upload keeps the source and deploys nothing', async () => {
  const service = await makeService(platform, { name: 'dozes' })
  await service.ask('/suspend', { method: 'POST' })
  const { status, body } = await upload(platform, service.id, await packApp('hello-js'))
  expect(status).toBe(201)
  expect(body.deployId).toBeUndefined()
  expect((await service.ask<unknown[]>('/deploys')).body).toEqual([])
})

test('the events of a deleted service are still told, with its name, and only to those who see the whole workspace', async () => {
  const service = await makeService(platform, { name: 'remembered' })
  await deletion(service)
  await isGone(service)
  const listed = await call<{ event: Event }[]>(`${platform.url}/v1/events?serviceId=${service.id}`, { token: platform.adminToken })
  expect(listed.body.map(({ event }) => event)).toMatchObject([
    { type: 'service_deleted', serviceId: service.id, serviceName: 'remembered' },
    { type: 'service_created', serviceId: service.id, serviceName: 'remembered', details: { type: 'web_service' } },
  ])
  const other = await makeService(platform, { name: 'confined-to' })
  const scope = { serviceIds: [other.id] }
  const { body: key } = await call<{ secret: string }>(`${platform.url}/v1/api-keys`, {
    json: { name: 'confined', role: 'viewer', scope },
    token: platform.adminToken,
  })
  const ask = (path: string) => call<{ event: Event }[]>(`${platform.url}/v1/events${path}`, { token: key.secret })
  expect((await ask(`?serviceId=${service.id}`)).status).toBe(404)
  expect((await ask(`/${listed.body[0]?.event.id}`)).status).toBe(404)
  expect((await ask('')).body.map(({ event }) => event.serviceName)).toEqual(['confined-to'])
})
