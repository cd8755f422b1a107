import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCommands } from '../../../../server/apps/key-value/server/info.ts'
import type { KeyValueStats } from '../../../../shared/key-value.ts'
import type { TimeSeries } from '../../../../shared/metrics.ts'
import { call } from '../../../support/client.ts'
import { makeStore } from '../../../support/key-value.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

test('commands are told by the time that they took', () => {
  const text = [
    'cmdstat_get:calls=4,usec=9,usec_per_call=2.25,rejected_calls=1,failed_calls=2',
    'cmdstat_client|list:calls=1,usec=90,usec_per_call=90.00,rejected_calls=0,failed_calls=0',
    'cmdstatistics:none',
  ].join('\r\n')
  expect(readCommands(text)).toEqual([
    { command: 'CLIENT LIST', calls: 1, totalMs: 0.09, failed: 0 },
    { command: 'GET', calls: 4, totalMs: 0.009, failed: 3 },
  ])
})

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

test('what a store does is told live, and measured from its start on', async () => {
  const store = await makeStore(platform, { name: 'measured' })
  await store.isAvailable()
  using client = await store.connect()
  for (const key of ['a', 'b']) await client.send('SET', key, 'x')
  for (const key of ['a', 'nothing']) await client.send('GET', key)
  const { status, body } = await store.request<KeyValueStats>('GET', '/stats')
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { keys: 2, hits: 1, misses: 1, hitRatio: 0.5, connections: 1, connectionLimit: 250, maxMemoryBytes: 192 * 1024 * 1024 },
  })
  expect(body.commands.map(({ command }) => command)).toEqual(expect.arrayContaining(['SET', 'GET']))
  const token = platform.adminToken
  const [series] = await until('it was measured', async () => {
    const found = await call<TimeSeries[]>(`${platform.url}/v1/metrics/active-connections?resource=${store.id}`, { token })
    return found.body.length > 0 && found.body
  })
  expect(series).toMatchObject({ unit: 'connections', labels: [{ field: 'resource', value: store.id }] })
  const history = await call<TimeSeries[]>(`${platform.url}/v1/services/${store.id}/metrics/history?metric=keys,used-memory`, { token })
  expect(history.body.map(({ unit }) => unit)).toEqual(['keys', 'bytes'])
})
