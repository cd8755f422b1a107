import { spawnSync } from 'node:child_process'
import { existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { datastoreById, updateDatastore } from '../../server/apps/datastores/store.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { Event } from '../../shared/event.ts'
import { makeStore, type TestStore } from '../support/key-value.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const hasLoopDevices = process.getuid?.() === 0 && existsSync('/dev/loop-control')
const SLOW_MS = 120_000

describe.runIf(hasLoopDevices)('a key-value store on a disk that fills', { timeout: 2 * SLOW_MS }, () => {
  let platform: Platform
  let store: TestStore
  beforeAll(async () => {
    platform = await startPlatform()
    store = await makeStore(platform, { name: 'cache', maxmemoryPolicy: 'noeviction' })
    await store.isAvailable()
  }, SLOW_MS)
  afterAll(() => platform.close())

  const write = async (key: string): Promise<string> => {
    using client = await store.connect()
    return await client.send('SET', key, 'x'.repeat(100_000)).then(String, String)
  }
  const events = async (): Promise<string[]> => {
    const { body } = await store.request<{ event: Event }[]>('GET', '/events?direction=forward')
    return body.map(({ event }) => event.type)
  }

  test('refuses writes when there is no room, is told of, and takes them again by itself on a larger disk', async () => {
    expect(await write('before')).toBe('OK')
    // Nobody may make it larger for a while.
    updateDatastore(platform.db, store.id, { growthRefusedAt: Date.now() }, Date.now())
    const id = workloadsOf(platform.db, 'datastore', store.id)[0]?.id ?? ''
    const record = await Bun.file(join(platform.dataDir, 'run/instances/instances', id, 'process')).text()
    const root = `/proc/${record.split(' ')[0]}/root/var/lib/datastore`
    spawnSync('sh', ['-c', `cat /dev/zero >>${root}/filler`])
    await until('it is full', async () => (await store.get()).diskState === 'full')
    let count = 0
    await until('it refuses writes', async () => (await write(`more-${++count}`)).includes('MISCONF'))
    using reader = await store.connect()
    expect(String(await reader.send('GET', 'before'))).toHaveLength(100_000)
    expect(statfsSync(root).bavail).toBeLessThan(1000)

    updateDatastore(platform.db, store.id, { growthRefusedAt: null }, Date.now())
    await until('it has grown', () => datastoreById(platform.db, store.id)?.sizeGb === 2, SLOW_MS)
    await until('it takes writes', async () => (await write('after').catch(String)) === 'OK', SLOW_MS)
    await until('it is told', async () => (await store.get()).diskState === 'ok')
    const told = await events()
    expect(told.filter((type) => type.includes('disk'))).toEqual(['key_value_disk_full', 'key_value_disk_writable'])
    using after = await store.connect()
    expect(String(await after.send('GET', 'before'))).toHaveLength(100_000)
  })
})
