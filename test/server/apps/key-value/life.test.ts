import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyValueById } from '../../../../server/apps/key-value/store.ts'
import { processOf } from '../../../support/instance-process.ts'
import { makeStore, type TestStore } from '../../../support/key-value.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

/** Key-value stores that really run, from creation to removal. */

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

const infoOf = async (store: TestStore, section: string): Promise<string> => {
  using client = await store.connect()
  return String(await client.send('INFO', section))
}

test('a store is created, answers, and is told how to connect to while it is made', async () => {
  const store = await makeStore(platform, { name: 'cache' })
  const { status, body } = await store.request<Record<string, string>>('GET', '/connection-info')
  expect(status).toBe(200)
  expect(body.internalConnectionString).toMatch(new RegExp(`^redis://${store.id}:[0-9a-f]{48}@${store.id}:6379$`))
  const made = await store.isAvailable()
  expect(made).toMatchObject({
    version: '9',
    plan: 'starter',
    options: { maxmemoryPolicy: 'allkeys_lru', persistenceMode: 'journal_snapshot' },
  })
  using client = await store.connect()
  expect(await client.send('SET', 'greeting', 'hello')).toBe('OK')
  expect(await client.send('EVAL', "return redis.call('get', KEYS[1])", '1', 'greeting')).toBe('hello')
})

test('nobody gets in without a name, by another or by a wrong password', async () => {
  const store = await makeStore(platform, { name: 'closed' })
  await store.isAvailable()
  for (const login of [{ user: '', password: '' }, { user: 'default' }, { user: 'cpd' }, { password: 'guess' }])
    await expect(store.connect(login).then((client) => client.send('PING'))).rejects.toThrow()
})

test('settings are in force without a restart, and another plan is a restart that keeps what was written', async () => {
  const store = await makeStore(platform, { name: 'changing' })
  await store.isAvailable()
  using client = await store.connect()
  await client.send('SET', 'kept', 'yes')
  expect((await store.request('PATCH', '', { maxmemoryPolicy: 'noeviction', name: 'changed' })).status).toBe(200)
  await until('the policy is in force', async () => (await infoOf(store, 'memory')).includes('maxmemory_policy:noeviction'))
  expect(await client.send('GET', 'kept')).toBe('yes')
  await store.request('PATCH', '', { plan: 'free' })
  await until('the plan is in force', async () => (await infoOf(store, 'memory').catch(() => '')).includes(`maxmemory:${48 * 1024 * 1024}`))
  using after = await store.connect()
  expect(await after.send('GET', 'kept')).toBe('yes')
})

test('what is kept on the disk follows the mode, and nothing is lost on the way', async () => {
  const store = await makeStore(platform, { name: 'persistent', persistenceMode: 'off' })
  await store.isAvailable()
  for (const mode of ['snapshot', 'journal_snapshot', 'snapshot', 'journal-snapshot']) {
    using client = await store.connect()
    await client.send('INCR', 'steps')
    await store.request('PATCH', '', { persistenceMode: mode })
    await until(`it keeps by ${mode}`, () => keyValueById(platform.db, store.id)?.laid === mode.replace('-', '_'))
  }
  await store.request('POST', '/suspend')
  await until('it is suspended', async () => (await store.get()).status === 'suspended')
  await store.request('POST', '/resume')
  await store.isAvailable()
  using client = await store.connect()
  expect(await client.send('GET', 'steps')).toBe('4')
})

test('after a rotation both passwords are good, until the former one is ended with its connections', async () => {
  const store = await makeStore(platform, { name: 'rotating' })
  await store.isAvailable()
  const former = await store.password()
  using before = await store.connect()
  const { body } = await store.request('POST', '/credentials')
  expect(body).toMatchObject({ credentials: [{ default: true }, { default: false, expiresAt: expect.any(String) }], touched: [] })
  const current = await store.password()
  expect(current).not.toBe(former)
  await until('the new one is good', () =>
    store.connect({ password: current }).then(
      () => true,
      () => false,
    ),
  )
  using still = await store.connect({ password: former })
  expect(await still.send('PING')).toBe('PONG')
  await store.request('POST', '/credentials', { formerValidHours: 0 })
  await until('former connections are ended', () =>
    before.send('PING').then(
      () => false,
      () => true,
    ),
  )
  for (const password of [former, current]) await expect(store.connect({ password })).rejects.toThrow()
  using latest = await store.connect()
  expect(await latest.send('PING')).toBe('PONG')
})

test('a killed server comes back by itself with what was acknowledged a while before', async () => {
  const store = await makeStore(platform, { name: 'killed' })
  await store.isAvailable()
  using client = await store.connect()
  for (let index = 0; index < 1000; index++) await client.send('SET', `key:${index}`, String(index))
  // Answers when the journal up to here is on the disk.
  expect(await client.send('WAITAOF', '1', '0', '0')).toEqual([1, 0])
  const [{ id = '' } = {}] = platform.db
    .query<{ id: string }, [string]>("SELECT id FROM workloads WHERE owner_id = ? AND phase = 'running'")
    .all(store.id)
  process.kill(processOf(platform.context.paths, id).pid, 'SIGKILL')
  await until('it is gone', () =>
    client.send('PING').then(
      () => false,
      () => true,
    ),
  )
  await until(
    'it is back',
    async () =>
      (await store.get()).status === 'available' &&
      (await store.connect().then(
        () => true,
        () => false,
      )),
  )
  using back = await store.connect()
  expect(await back.send('DBSIZE')).toBe(1000)
})

test('a store that is deleted is gone with its volume', async () => {
  const store = await makeStore(platform, { name: 'going' })
  await store.isAvailable()
  const { volume_id: volumeId = '' } =
    platform.db.query<{ volume_id: string }, [string]>('SELECT volume_id FROM datastores WHERE id = ?').get(store.id) ?? {}
  expect((await store.request('DELETE')).status).toBe(204)
  expect((await store.request('GET')).status).toBe(404)
  await until('the volume is gone', async () => !(await platform.context.engine.volumes.list()).includes(volumeId))
})
