import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeStore, type TestStore } from '../../../support/key-value.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'

/** The libraries that apps speak to stores with, by nothing but a connection string. */

let platform: Platform
let store: TestStore
let url: string
beforeAll(async () => {
  platform = await startPlatform()
  store = await makeStore(platform, { name: 'queue', maxmemoryPolicy: 'noeviction' })
  await store.isAvailable()
  const { host, port } = store.address()
  url = `redis://${store.id}:${await store.password()}@${host}:${port}`
})
afterAll(() => platform.close())

test('ioredis: pipelines, transactions, scripts and subscriptions', async () => {
  const [client, listener] = [new Redis(url), new Redis(url)]
  try {
    expect(await client.pipeline().set('a', '1').incr('a').exec()).toEqual([
      [null, 'OK'],
      [null, 2],
    ])
    expect(await client.multi().get('a').del('a').exec()).toEqual([
      [null, '2'],
      [null, 1],
    ])
    const heard = new Promise((resolve) => listener.on('message', (_, message) => resolve(message)))
    await listener.subscribe('news')
    await client.publish('news', 'hello')
    expect(await heard).toBe('hello')
  } finally {
    client.disconnect()
    listener.disconnect()
  }
})

test.each([2, 3] as const)('node-redis by RESP%i', async (RESP) => {
  const client = createClient({ url, RESP })
  await client.connect()
  try {
    await client.hSet('user', { name: 'Ada', lines: '1' })
    expect({ ...(await client.hGetAll('user')) }).toEqual({ name: 'Ada', lines: '1' })
    expect(await client.eval('return redis.call("hget", KEYS[1], "name")', { keys: ['user'] })).toBe('Ada')
  } finally {
    client.destroy()
  }
})
