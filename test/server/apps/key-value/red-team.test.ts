import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectTo, makeStore, type TestClient, type TestStore } from '../../../support/key-value.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

/** What a tenant tries with the password of a store of their own. */

let platform: Platform
let store: TestStore
let client: TestClient
beforeAll(async () => {
  platform = await startPlatform()
  store = await makeStore(platform, { name: 'hostile', plan: 'free', maxmemoryPolicy: 'noeviction' })
  await store.isAvailable()
  client = await store.connect()
})
afterAll(async () => {
  client[Symbol.dispose]()
  await platform.close()
})

const refusal = /NOPERM|not allowed|disabled|ERR/

test.each([
  'CONFIG SET dir /tmp',
  'CONFIG GET *',
  'CONFIG REWRITE',
  'CONFIG SET notify-keyspace-events KEA',
  'MODULE LOAD /tmp/evil.so',
  'MODULE LOADEX /tmp/evil.so',
  'DEBUG SEGFAULT',
  'SHUTDOWN NOSAVE',
  'REPLICAOF 127.0.0.1 6379',
  'SLAVEOF NO ONE',
  'ACL SETUSER cpd nopass',
  'ACL LIST',
  'ACL LOAD',
  'ACL GETUSER cpd',
  'ACL DELUSER cpd',
  'SYNC',
  'PSYNC ? -1',
  'REPLCONF capa eof',
  'FAILOVER',
  'SAVE',
  'BGREWRITEAOF',
  'MIGRATE 127.0.0.1 22 key 0 100',
  'CLUSTER MEET 127.0.0.1 6379',
  'SCRIPT DEBUG YES',
  'CLIENT NO-EVICT ON',
])('%s is refused, by hand and by a script', async (line) => {
  const words = line.split(' ')
  await expect(client.send(...words)).rejects.toThrow(refusal)
  const call = words.map((word) => JSON.stringify(word)).join(', ')
  await expect(client.send('EVAL', `return redis.call(${call})`, '0')).rejects.toThrow(refusal)
})

test.each([
  ['files', "return io.open('/etc/passwd')"],
  ['programs', "return os.execute('id')"],
  ['libraries', "return package.loadlib('/lib/x86_64-linux-gnu/libc.so.6', 'system')"],
  ['files as code', "return dofile('/etc/passwd')"],
  ['other code', "return require('os')"],
  ['prepared code', "return loadstring('\\27Lua\\81\\0\\1\\4\\8\\4\\8\\0')()"],
  ['tables of its own', 'string.format = nil; return 1'],
  ['the globals', 'evil = 1; return 1'],
])('a script does not get at %s', async (_, script) => {
  await expect(client.send('EVAL', script, '0')).rejects.toThrow()
})

test('functions are scripts as well, and have no more', async () => {
  const library = "#!lua name=evil\nredis.register_function('evil', function() return redis.call('CONFIG', 'GET', 'dir') end)"
  expect(await client.send('FUNCTION', 'LOAD', library)).toBe('evil')
  await expect(client.send('FCALL', 'evil', '0')).rejects.toThrow(refusal)
})

test('full memory refuses writes, lets others read and delete, and ends nothing', async () => {
  const fill = "for i = 1, 1000 do redis.call('SET', KEYS[1] .. i, string.rep('x', 1000)) end"
  const fillUp = async () => {
    for (let part = 1; part <= 100; part++) await client.send('EVAL', fill, '1', `full:${part}:`)
  }
  await expect(fillUp()).rejects.toThrow(/OOM/)
  await expect(client.send('SET', 'one', 'more')).rejects.toThrow(/OOM/)
  expect(await client.send('GET', 'full:1:1')).toBe('x'.repeat(1000))
  expect(await client.send('FLUSHALL')).toBe('OK')
  expect(await client.send('SET', 'one', 'more')).toBe('OK')
  expect((await store.get()).status).toBe('available')
})

test('one value is no larger than what there is beside the keys', async () => {
  await expect(client.send('SETRANGE', 'huge', '400000000', 'x')).rejects.toThrow(/maximum allowed size/)
  await expect(client.send('SETBIT', 'huge', '4294967295', '1')).rejects.toThrow(/offset/)
  expect(await client.send('SETRANGE', 'large', '8000000', 'x')).toBe(8_000_001)
  await client.send('DEL', 'large')
})

test('who sees the platform’s sessions learns no password, and who ends them ends nothing else', async () => {
  const listed = String(await client.send('CLIENT', 'LIST'))
  expect(listed).toMatch(/user=red-/)
  expect(listed).not.toContain(await store.password())
  await client.send('CLIENT', 'KILL', 'USER', 'cpd').catch(() => undefined)
  await store.request('PATCH', '', { maxmemoryPolicy: 'allkeys-lru' })
  await until('the policy is in force', async () => /maxmemory_policy:allkeys-lru/.test(String(await client.send('INFO', 'memory'))))
  await store.request('PATCH', '', { maxmemoryPolicy: 'noeviction' })
})

test('a tenant who pauses all who connect keeps the platform from nothing', async () => {
  await client.send('SET', 'kept', 'safe')
  await client.send('CLIENT', 'PAUSE', '600000', 'ALL')
  expect(await soonAnswered()).toBe(false)
  expect(await store.request('POST', '/suspend')).toMatchObject({ status: 202 })
  await until('it is suspended', async () => (await store.get()).status === 'suspended')
  await store.request('POST', '/resume')
  await store.isAvailable()
  client[Symbol.dispose]()
  client = await store.connect()
  expect(await client.send('GET', 'kept')).toBe('safe')
})

/** Whether the store answers a client within a moment. */
async function soonAnswered(): Promise<boolean> {
  const answer = client.send('PING').then(
    () => true,
    () => false,
  )
  return await Promise.race([answer, Bun.sleep(300).then(() => false)])
}

test('the password of one store opens no other', async () => {
  const other = await makeStore(platform, { name: 'other', plan: 'free' })
  await other.isAvailable()
  const { host, port } = other.address()
  await expect(connectTo(`redis://${store.id}:${await store.password()}@${host}:${port}`)).rejects.toThrow()
  await expect(connectTo(`redis://${other.id}:${await store.password()}@${host}:${port}`)).rejects.toThrow()
})
