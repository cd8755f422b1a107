import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_BUILD_CONCURRENCY: '1' })
})
afterAll(() => platform.close())

const visit = (name: string) => platform.ingress.visit(`${name}.localhost`)
const cancel = (service: TestService, deployId: string) => service.ask(`/deploys/${deployId}/cancel`, { method: 'POST' })
const longBuild = { 'package.json': JSON.stringify({ name: 'long', scripts: { build: 'sleep 60', start: 'node server.js' } }) }
/** Listens nowhere, so it stays in its update. */
const neverUp = { 'server.js': 'setInterval(() => {}, 1000)' }

const processesOf = (deployId: string) =>
  platform.context.engine.list().then((all) => all.filter(({ instanceId }) => instanceId.includes(deployId)))

test('a deploy canceled during its build ends at once, with no process and no folder left of it', async () => {
  const service = await makeService(platform, { name: 'in-build' })
  await service.goLive('hello-js', { VERSION: 'old' })
  const deployId = await service.upload('hello-js', longBuild)
  await service.reaches(deployId, 'build_in_progress')
  await until('the build runs', async () => (await processesOf(deployId)).length > 0)
  expect((await cancel(service, deployId)).status).toBe(200)
  expect(await service.ends(deployId)).toMatchObject({ status: 'canceled', reason: 'Canceled on request.' })
  expect(await processesOf(deployId)).toEqual([])
  await until('the build folder is gone', () => readdirSync(servicePathsOf(platform.context.paths, service.id).builds).length === 0)
  expect((await visit('in-build')).text).toBe('hello-js old\n')
})

test('a deploy canceled during its update takes its instances with it and leaves the old ones', async () => {
  const service = await makeService(platform, { name: 'in-update' })
  await service.goLive('hello-js', { VERSION: 'old' })
  const deployId = await service.upload('hello-js', neverUp)
  await service.reaches(deployId, 'update_in_progress')
  await service.settles('running', 'starting')
  await cancel(service, deployId)
  expect(await service.ends(deployId)).toMatchObject({ status: 'canceled', reason: 'Canceled on request.' })
  await service.settles('running')
  expect((await visit('in-update')).text).toBe('hello-js old\n')
})

test('a build of another service waits for a place, and an update holds none', async () => {
  const [first, second] = [await makeService(platform, { name: 'first' }), await makeService(platform, { name: 'second' })]
  const updating = await first.upload('hello-js', neverUp)
  await first.reaches(updating, 'update_in_progress')
  expect((await second.goLive('hello-js')).status).toBe('live')
  const building = await second.upload('hello-js', longBuild)
  await second.reaches(building, 'build_in_progress')
  await cancel(first, updating)
  const waiting = await first.upload('hello-js')
  expect((await first.deploy(waiting)).status).toBe('queued')
  await cancel(second, building)
  expect((await first.ends(waiting)).status).toBe('live')
})
