import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deploy } from '../../../../shared/deploy.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

/** The shortest there is. */
const WINDOW_SECONDS = 5

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform({}, { speed: 4 })
})
afterAll(() => platform.close())

const visit = ({ name }: TestService) => platform.visit(name)
const make = (name: string, cutoverGuard: Record<string, unknown> = { enabled: true, windowSeconds: WINDOW_SECONDS }) =>
  makeService(platform, { name, serviceDetails: { cutoverGuard, runtime: 'node' } })
const post = <T = Deploy>(service: TestService, path: string, json?: unknown) => service.ask<T>(path, { method: 'POST', json: json ?? {} })
const ids = async (service: TestService, status: string) =>
  (await service.instances()).filter((instance) => instance.status === status).map(({ id }) => id)
const story = async (service: TestService, ...types: string[]): Promise<Record<string, unknown>[]> =>
  (await service.events()).filter(({ type }) => types.includes(type)).map(({ type, details }) => ({ type, ...details }))

const good = (version: string): string => `say hello ${version}; listen; serve`
/** Is healthy, and dies a little later. */
const dying = 'listen; wait 1200; exit 3'

/** Uploads a release that runs this command, and gives the id of its deploy. */
async function release(service: TestService, startCommand: string): Promise<string> {
  await service.ask('', { method: 'PATCH', json: { serviceDetails: { envSpecificDetails: { startCommand } } } })
  return service.upload('hello-js')
}

async function goLive(service: TestService, startCommand = good('1')): Promise<Deploy> {
  const deployId = await release(service, startCommand)
  await service.ends(deployId)
  return await service.reaches(deployId, 'live')
}

test('a release whose instances die after they were healthy goes back by itself', async () => {
  const service = await make('dying', { enabled: true, windowSeconds: 60 })
  const first = await goLive(service)
  const bad = await release(service, dying)
  const { reason } = await until('it has gone back', async () => {
    const deploy = await service.deploy(bad)
    return deploy.status === 'update_failed' && deploy
  })
  expect(reason).toMatch(
    /^Instances of the new release died 2 times within \d+ s of the switch, those of the old one not once\. The old release/,
  )
  expect((await service.deploy(first.id)).status).toBe('live')
  await until('the old release serves again', async () => (await visit(service)).text === 'hello 1')
  await service.settles('running')
})

test('a good release passes: the instances of the one before stand by until its window is over, and are gone after it', async () => {
  const service = await make('good')
  const first = await goLive(service)
  expect(first.guardedUntil).toBeUndefined()
  const before = await ids(service, 'running')
  const second = await goLive(service, good('2'))
  expect(Date.parse(second.guardedUntil ?? '')).toBeGreaterThan(Date.now())
  expect(await ids(service, 'standby')).toEqual(before)
  expect((await visit(service)).text).toBe('hello 2')
  await until('the old one is gone', async () => (await service.instances()).length === 1)
  expect(platform.context.now()).toBeGreaterThanOrEqual(Date.parse(second.guardedUntil ?? ''))
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
    await goLive(service)
    const { guardedUntil } = await goLive(service, 'answer 500; listen; serve')
    expect(guardedUntil).toBeUndefined()
    await service.settles('running')
    expect(await story(service, 'cutover_guarded')).toEqual([])
  })
  test('that is switched off during a window ends it', async () => {
    const service = await make('switched-off', { enabled: true, windowSeconds: 300 })
    await goLive(service)
    await goLive(service, good('2'))
    await service.ask('', { method: 'PATCH', json: { serviceDetails: { cutoverGuard: { enabled: false } } } })
    await until('the old one is gone', async () => (await service.instances()).length === 1)
    expect(await story(service, 'cutover_unguarded')).toMatchObject([{ reason: 'The guard was switched off.' }])
  })
})

describe('during a window', () => {
  /** Two releases, the second of them watched for long. */
  async function watched(name: string): Promise<{ service: TestService; first: Deploy; second: Deploy; oldest: string[]; old: string[] }> {
    const service = await make(name, { enabled: true, windowSeconds: 300 })
    const first = await goLive(service)
    const oldest = await ids(service, 'running')
    const second = await goLive(service, good('2'))
    await until('the new one serves', async () => (await ids(service, 'running')).length === 1)
    return { service, first, second, oldest, old: await ids(service, 'running') }
  }

  test('a newer deploy is watched instead: what stood by goes at once, what was watched stands by', async () => {
    const { service, second, oldest, old } = await watched('newer')
    const third = await goLive(service, good('3'))
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
    expect((await visit(service)).text).toBe('hello 1')
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
    await until('it answers', async () => (await visit(service)).text === 'hello 2')
    expect((await service.deploy(second.id)).guardedUntil).toBeUndefined()
  })

  test('an instance that stands by and dies is started again, and does not come into the routes', async () => {
    const { service, oldest } = await watched('standby-dies')
    platform.machine.crash(oldest[0] ?? '', 9)
    await until('it stands by again', async () =>
      (await service.instances()).some(({ id, restarts }) => id === oldest[0] && restarts === 1),
    )
    await until('it is healthy', async () => (await ids(service, 'standby')).length === 1)
    expect((await visit(service)).text).toBe('hello 2')
  })
})
