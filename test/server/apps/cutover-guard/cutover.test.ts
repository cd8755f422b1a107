import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Load, startLoad } from '../../../support/load.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

/** The shortest there is. */
const WINDOW_SECONDS = 5

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

const visit = ({ name }: TestService) => platform.ingress.visit(`${name}.localhost`)
const loadOn = ({ name }: TestService): Load =>
  startLoad({ port: Number(platform.ingress.address.split(':')[1]), host: `${name}.localhost` })
const make = (name: string, cutoverGuard: Record<string, unknown> = { enabled: true, windowSeconds: WINDOW_SECONDS }) =>
  makeService(platform, { name, serviceDetails: { cutoverGuard } })
const ids = async (service: TestService, status: string) =>
  (await service.instances()).filter((instance) => instance.status === status).map(({ id }) => id)
const story = async (service: TestService, ...types: string[]): Promise<Record<string, unknown>[]> =>
  (await service.events()).filter(({ type }) => types.includes(type)).map(({ type, details }) => ({ type, ...details }))

const listen = ".listen(process.env.PORT, '127.0.0.1'); process.on('SIGTERM', () => process.exit(0))"
/** Answers every second request with 500. */
const halfBad = {
  'server.js': `let count = 0; require('node:http').createServer((_, response) => {
    if (count++ % 2 === 0) response.statusCode = 500
    response.end('bad')
  })${listen}`,
}
/** Is healthy, and dies a little later, counted from when it could be reached: a busy machine starts it slowly. */
const dying = {
  'server.js': `const server = require('node:http').createServer((_, response) => response.end('dying'))
    server.on('listening', () => setTimeout(() => process.exit(3), 1200))
    server${listen}`,
}

test('a release that answers 500 to half of the requests goes back by itself, and after that no request fails', async () => {
  const service = await make('half-bad', { enabled: true, windowSeconds: 60 })
  const first = await service.goLive('hello-js')
  const before = await ids(service, 'running')
  const load = loadOn(service)
  await load.answered(100)
  const bad = await service.upload('hello-js', halfBad)
  const ended = await until('it has gone back', async () => {
    const deploy = await service.deploy(bad)
    return deploy.status === 'update_failed' && deploy
  })
  expect(ended.reason).toMatch(
    /^\d+ of \d+ requests \(\d\d\.\d %\) of the new release failed in the \d+ s since the switch, 0 of \d+ requests \(0\.0 %\) of the old one in the minutes before\. The old release serves again\.$/,
  )
  await until('what did worse is gone', async () => (await service.instances()).length === 1)
  const from = load.samples.length
  await load.answered(100)
  await load.stop()
  expect(load.samples.slice(from).filter(({ failure }) => failure !== undefined)).toEqual([])
  const failures = load.samples.filter(({ failure }) => failure !== undefined)
  expect(failures.filter(({ failure }) => !failure?.startsWith('status 500'))).toEqual([])
  expect((failures.at(-1)?.sentAt ?? 0) - (failures[0]?.sentAt ?? 0)).toBeLessThan(20_000)
  expect(await ids(service, 'running')).toEqual(before)
  expect((await service.deploy(first.id)).status).toBe('live')
  expect(await story(service, 'cutover_guarded', 'cutover_reverted', 'cutover_passed')).toMatchObject([
    { type: 'cutover_guarded', deployId: bad, previousDeployId: first.id, windowSeconds: 60, errorRateThreshold: 20 },
    { type: 'cutover_reverted', deployId: bad, toDeployId: first.id, reason: ended.reason, after: { crashes: 0 } },
  ])
  expect((await story(service, 'deploy_ended')).filter(({ deployId }) => deployId === bad).map(({ status }) => status)).toEqual([
    'live',
    'update_failed',
  ])
})

test('a release that takes the place of one that keeps dying is not blamed for what failed before it', async () => {
  const service = await make('cure', { enabled: true, windowSeconds: WINDOW_SECONDS })
  await service.goLive('hello-js', dying)
  const load = loadOn(service)
  await until('requests fail', () => load.failures().length > 50)
  const cure = await service.goLive('hello-js', { VERSION: '2' })
  await until('the window is over', async () => (await service.deploy(cure.id)).guardedUntil === undefined)
  await load.stop()
  expect((await service.deploy(cure.id)).status).toBe('live')
  expect((await visit(service)).text).toBe('hello-js 2\n')
})
