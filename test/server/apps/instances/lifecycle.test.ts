import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform({ CP_HEALTH_TIMEOUT_SECONDS: '3' }, { speed: 2 })
})
afterAll(() => platform.close())

const visit = ({ name }: TestService) => platform.visit(name)
const post = (service: TestService, path: string, json?: unknown) =>
  service.ask(path, { method: 'POST', ...(json === undefined ? {} : { json }) })
const ids = (instances: { id: string }[]) => instances.map(({ id }) => id)

/** Has an instance that serves end by itself. */
async function die(service: TestService): Promise<void> {
  const [one] = platform.ingress.targetsOf(service.id)
  platform.machine.crash(one?.instanceId ?? '', 9)
}

async function live(name: string, details: Record<string, unknown> = {}, startCommand = 'say $CPD_INSTANCE_ID; listen; serve') {
  const own = { runtime: 'node', envSpecificDetails: { startCommand } }
  const service = await makeService(platform, { name, serviceDetails: { ...own, ...details } })
  await service.goLive('hello-js')
  return service
}

describe('a restart', () => {
  test('replaces all instances by others, without a request lost', async () => {
    const service = await live('restarts', { numInstances: 2 })
    const before = ids(await service.settles('running', 'running'))
    let isOver = false
    const statuses = new Set<number>()
    const visitor = (async () => {
      while (!isOver) statuses.add((await visit(service)).status)
    })()
    expect((await post(service, '/restart')).status).toBe(200)
    await until('all are others', async () => {
      const now = await service.instances()
      return now.length === 2 && now.every(({ id, status }) => status === 'running' && !before.includes(id))
    })
    isOver = true
    await visitor
    expect([...statuses]).toEqual([200])
    expect((await service.events()).some(({ type }) => type === 'server_restarted')).toBe(true)
  })

  test('that does not get healthy is given up, the old instances serve, and the next one succeeds', async () => {
    const service = await live('stays')
    const [before] = ids(await service.settles('running'))
    // What is started from now on never listens, though nothing of the release has changed: its port is held by another.
    const { db } = platform.context
    const released = db
      .query<{ id: string; launch: string }, [string]>('SELECT id, launch FROM releases WHERE service_id = ?')
      .get(service.id)
    const setLaunch = (launch: string) => db.query('UPDATE releases SET launch = ? WHERE id = ?').run(launch, released?.id ?? '')
    setLaunch(JSON.stringify({ ...JSON.parse(released?.launch ?? ''), startCommand: 'serve' }))
    await post(service, '/restart')
    await service.settles('running', 'starting')
    await until('the restart is given up', async () =>
      (await service.events()).some(
        ({ type, details }) => type === 'server_failed' && String(details.reason).startsWith('The restart was given up.'),
      ),
    )
    expect(ids(await service.settles('running'))).toEqual([before])
    expect((await visit(service)).text).toBe(before)
    setLaunch(released?.launch ?? '')
    await post(service, '/restart')
    await until('another serves', async () => (await visit(service)).text !== before)
    await service.settles('running')
  })

  test('is refused before anything is live', async () => {
    const service = await makeService(platform, { name: 'nothing' })
    expect((await post(service, '/restart')).status).toBe(409)
  })
})

test('scaling up adds instances beside those that run, scaling down removes the newest', async () => {
  const service = await live('scales')
  const [first] = ids(await service.settles('running'))
  expect((await post(service, '/scale', { numInstances: 3 })).status).toBe(202)
  const three = ids(await service.settles('running', 'running', 'running'))
  expect(three).toContain(first)
  await post(service, '/scale', { numInstances: 1 })
  expect(ids(await service.settles('running'))).toEqual([first])
  const answers = new Set<string>()
  for (let i = 0; i < 6; i++) answers.add((await visit(service)).text)
  expect([...answers]).toEqual([first])
})

test('a suspension takes everything down, a resume brings it back', async () => {
  const service = await live('sleeps')
  expect((await post(service, '/suspend')).status).toBe(202)
  await service.settles()
  expect((await visit(service)).status).toBe(503)
  expect((await post(service, '/deploys')).status).toBe(409)
  expect((await post(service, '/restart')).status).toBe(409)
  await post(service, '/suspend')
  expect((await post(service, '/resume')).status).toBe(202)
  const [instance] = ids(await service.settles('running'))
  // The routes follow the status by a moment.
  await until('the resumed instance answers', async () => (await visit(service)).text === instance)
  const types = (await service.events()).map(({ type }) => type)
  expect(types.filter((type) => type === 'service_suspended')).toHaveLength(1)
  expect(types.indexOf('service_resumed')).toBeGreaterThan(types.indexOf('service_suspended'))
})

describe('an instance that dies', () => {
  test('is started again under its own id, and the events tell how it ended', async () => {
    const service = await live('dies')
    const [before] = await service.settles('running')
    await die(service)
    await service.settles('restarting')
    expect((await visit(service)).status).toBe(502)
    const [after] = await service.settles('running')
    expect(after).toMatchObject({ id: before?.id, restarts: 1 })
    await until('it answers again', async () => (await visit(service)).status === 200)
    const failed = (await service.events()).find(({ type }) => type === 'server_failed')
    expect(failed?.details).toMatchObject({ instanceId: before?.id, exitCode: 9, signal: null, reason: 'It exited with code 9' })
  })

  test('leaves the requests to the others', async () => {
    const service = await live('shares', { numInstances: 2 })
    await service.settles('running', 'running')
    await die(service)
    await until('one is left', async () => (await service.instances()).filter(({ status }) => status === 'running').length === 1)
    // The database knows a moment before the ingress does.
    await platform.context.routes.publish()
    const statuses = new Set<number>()
    for (let i = 0; i < 10; i++) statuses.add((await visit(service)).status)
    expect([...statuses]).toEqual([200])
    await service.settles('running', 'running')
  })

  test('five times within two minutes is shown as crash-looping, also while it runs', async () => {
    const service = await live('loops')
    const [instance] = await service.settles('running')
    const at = Date.now()
    const exits = Array.from({ length: 4 }, (_, index) => ({ at: at - 1000 * index, exitCode: 1, signal: null, oomKilled: false }))
    // Four deaths with their pauses would take 15 s.
    platform.db.query('UPDATE workloads SET exits = ? WHERE id = ?').run(JSON.stringify(exits), instance?.id ?? '')
    await die(service)
    await service.settles('crash_looping')
    await post(service, '/suspend')
    await service.settles()
  })

  test('though the engine was not told to forget its last run is started all the same', async () => {
    const service = await live('forgotten', {}, 'wait 2000; say $CPD_INSTANCE_ID; listen; serve')
    const [instance] = await service.settles('running')
    const id = instance?.id ?? ''
    // A control plane that is killed after it has written the end down leaves this.
    await platform.context.engine.stop(id, { graceMs: 0 })
    platform.db.query("UPDATE workloads SET phase = 'pending', start_at = ? WHERE id = ?").run(platform.context.now() + 600, id)
    platform.context.work.poke('service', service.id)
    await service.settles('starting')
    await service.settles('running')
    expect((await visit(service)).text).toBe(id)
  })
})
