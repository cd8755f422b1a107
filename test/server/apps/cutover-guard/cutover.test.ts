import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deploy } from '../../../../shared/deploy.ts'
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
const post = <T = Deploy>(service: TestService, path: string, json?: unknown) => service.ask<T>(path, { method: 'POST', json: json ?? {} })
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

test('a release whose instances die after they were healthy goes back by itself', async () => {
  const service = await make('dying', { enabled: true, windowSeconds: 60 })
  const first = await service.goLive('hello-js')
  const bad = await service.upload('hello-js', dying)
  const { reason } = await until('it has gone back', async () => {
    const deploy = await service.deploy(bad)
    return deploy.status === 'update_failed' && deploy
  })
  expect(reason).toMatch(
    /^Instances of the new release died 2 times within \d+ s of the switch, those of the old one not once\. The old release/,
  )
  expect((await service.deploy(first.id)).status).toBe('live')
  await until('the old release serves again', async () => (await visit(service)).text === 'hello-js 1\n')
  await service.settles('running')
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

test('a good release passes: the instances of the one before stand by until its window is over, and are gone after it', async () => {
  const service = await make('good')
  const first = await service.goLive('hello-js')
  expect(first.guardedUntil).toBeUndefined()
  const before = await ids(service, 'running')
  const second = await service.goLive('hello-js', { VERSION: '2' })
  expect(Date.parse(second.guardedUntil ?? '')).toBeGreaterThan(Date.now())
  expect(await ids(service, 'standby')).toEqual(before)
  expect((await visit(service)).text).toBe('hello-js 2\n')
  await until('the old one is gone', async () => (await service.instances()).length === 1)
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(second.guardedUntil ?? ''))
  const now = await service.deploy(second.id)
  expect({ status: now.status, guardedUntil: now.guardedUntil }).toEqual({ status: 'live', guardedUntil: undefined })
  expect(await story(service, 'cutover_guarded', 'cutover_passed')).toMatchObject([
    { type: 'cutover_guarded', deployId: second.id },
    { type: 'cutover_passed', deployId: second.id },
  ])
})

describe('the guard', () => {
  test('that is off leaves a bad release as it is, and takes the old instances at once', async () => {
    const service = await make('off', { enabled: false })
    await service.goLive('hello-js')
    const { guardedUntil } = await service.goLive('hello-js', halfBad)
    expect(guardedUntil).toBeUndefined()
    await service.settles('running')
    expect(await story(service, 'cutover_guarded')).toEqual([])
  })
  test('that is switched off during a window ends it', async () => {
    const service = await make('switched-off', { enabled: true, windowSeconds: 300 })
    await service.goLive('hello-js')
    await service.goLive('hello-js', { VERSION: '2' })
    await service.ask('', { method: 'PATCH', json: { serviceDetails: { cutoverGuard: { enabled: false } } } })
    await until('the old one is gone', async () => (await service.instances()).length === 1)
    expect(await story(service, 'cutover_unguarded')).toMatchObject([{ reason: 'The guard was switched off.' }])
  })
})

describe('during a window', () => {
  /** Two releases, the second of them watched for long. */
  async function watched(name: string): Promise<{ service: TestService; first: Deploy; second: Deploy; oldest: string[]; old: string[] }> {
    const service = await make(name, { enabled: true, windowSeconds: 300 })
    const first = await service.goLive('hello-js')
    const oldest = await ids(service, 'running')
    const second = await service.goLive('hello-js', { VERSION: '2' })
    await until('the new one serves', async () => (await ids(service, 'running')).length === 1)
    return { service, first, second, oldest, old: await ids(service, 'running') }
  }

  test('a newer deploy is watched instead: what stood by goes at once, what was watched stands by', async () => {
    const { service, second, oldest, old } = await watched('newer')
    const third = await service.goLive('hello-js', { VERSION: '3' })
    expect(third.guardedUntil).toBeDefined()
    await until('the oldest is gone', async () => !(await service.instances()).some(({ id }) => oldest.includes(id)))
    expect(await ids(service, 'standby')).toEqual(old)
    expect((await service.deploy(second.id)).status).toBe('deactivated')
    expect(await story(service, 'cutover_unguarded')).toMatchObject([{ deployId: second.id, reason: `Deploy ${third.id} took its place.` }])
  })

  test('a rollback ends it, and is not watched itself', async () => {
    const { service, first } = await watched('rolled-back')
    const { body } = await post(service, '/rollback')
    expect(body.rollbackOf).toBe(first.id)
    expect((await service.ends(body.id)).guardedUntil).toBeUndefined()
    await service.settles('running')
    expect((await visit(service)).text).toBe('hello-js 1\n')
  })

  test('a restart replaces the instances that are watched, and the window goes on', async () => {
    const { service, second, oldest, old } = await watched('restarted')
    await post(service, '/restart')
    await until(
      'others serve',
      async () => (await ids(service, 'running')).length === 1 && !(await ids(service, 'running')).includes(old[0] ?? ''),
    )
    expect(await ids(service, 'standby')).toEqual(oldest)
    expect((await service.deploy(second.id)).guardedUntil).toBe(second.guardedUntil)
  })

  test('scaling is about the live instances', async () => {
    const { service, oldest } = await watched('scaled')
    await post(service, '/scale', { numInstances: 2 })
    await until('two serve', async () => (await ids(service, 'running')).length === 2)
    expect(await ids(service, 'standby')).toEqual(oldest)
  })

  test('a suspension takes all instances, and after a resume the new release serves unwatched', async () => {
    const { service, second } = await watched('suspended')
    await post(service, '/suspend')
    await service.settles()
    await post(service, '/resume')
    await service.settles('running')
    await until('it answers', async () => (await visit(service)).text === 'hello-js 2\n')
    expect((await service.deploy(second.id)).guardedUntil).toBeUndefined()
  })

  test('an instance that stands by and dies is started again, and does not come into the routes', async () => {
    const { service, oldest } = await watched('standby-dies')
    await platform.context.engine.stop(oldest[0] ?? '', { graceMs: 0 })
    platform.context.work.poke('service', service.id)
    await until('it stands by again', async () =>
      (await service.instances()).some(({ id, restarts }) => id === oldest[0] && restarts === 1),
    )
    await until('it is healthy', async () => (await ids(service, 'standby')).length === 1)
    expect((await visit(service)).text).toBe('hello-js 2\n')
  })
})
