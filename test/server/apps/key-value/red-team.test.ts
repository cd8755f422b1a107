import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectTo, makeStore, type TestClient, type TestStore } from '../../../support/key-value.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'

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
  'MODULE LOAD /tmp/evil.so',
  'MODULE LOADEX /tmp/evil.so',
  'DEBUG SEGFAULT',
  'SHUTDOWN NOSAVE',
  'REPLICAOF 127.0.0.1 6379',
  'SLAVEOF NO ONE',
  'ACL SETUSER cpd nopass',
  'ACL LIST',
  'ACL LOAD',
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

test('the password of one store opens no other', async () => {
  const other = await makeStore(platform, { name: 'other', plan: 'free' })
  await other.isAvailable()
  const { host, port } = other.address()
  await expect(connectTo(`redis://${store.id}:${await store.password()}@${host}:${port}`)).rejects.toThrow()
  await expect(connectTo(`redis://${other.id}:${await store.password()}@${host}:${port}`)).rejects.toThrow()
})
