import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Log, LogLabel, LogPage } from '../../../../shared/log.ts'
import { call } from '../../../support/client.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
let service: TestService
let instanceId: string

beforeAll(async () => {
  platform = await startPlatform()
  service = await makeService(platform, { name: 'shop' })
  await service.goLive('hello-js')
  instanceId = (await service.settles('running'))[0]?.id ?? ''
})
afterAll(() => platform.close())

const visit = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://${platform.ingress.address}${path}`, { headers: { host: 'shop.localhost', ...headers } })

async function requests(query = ''): Promise<Log[]> {
  const { body } = await call<LogPage>(`${platform.url}/v1/logs?resource=${service.id}&type=request&limit=100&direction=forward${query}`, {
    token: platform.adminToken,
  })
  return body.logs
}
const labelOf = (log: Log | undefined, name: LogLabel) => log?.labels.find((label) => label.name === name)?.value

test('a request is found in the logs of its service soon after it was answered', async () => {
  await (await visit('/first?page=2', { 'x-request-id': 'the-first-request', 'user-agent': 'a "browser"' })).text()
  const [log] = await until('it is logged', async () => (await requests('&path=/first')).length > 0 && (await requests('&path=/first')))
  expect(log?.message).toMatch(/^\[GET\] 200 shop\.localhost\/first\?page=2 clientIP="127\.0\.0\.1" requestID="the-first-request" /)
  expect(log?.message).toContain('userAgent="a \\x22browser\\x22"')
  expect(['instance', 'level', 'host', 'method', 'statusCode', 'path'].map((name) => labelOf(log, name as LogLabel))).toEqual([
    instanceId,
    'info',
    'shop.localhost',
    'GET',
    '200',
    '/first',
  ])
})

test('a follower gets requests as they come', async () => {
  const url = `${platform.url.replace('http', 'ws')}/v1/logs/subscribe?resource=${service.id}&type=request&path=/followed*`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${platform.adminToken}` } })
  const messages: string[] = []
  socket.onmessage = ({ data }) => messages.push((JSON.parse(String(data)) as Log).message)
  await until('it is open', () => socket.readyState === WebSocket.OPEN)
  for (const path of ['/other', '/followed/1', '/followed/2']) await (await visit(path)).text()
  await until('both have come', () => messages.length === 2)
  expect(messages.map((message) => message.split(' ')[2])).toEqual(['shop.localhost/followed/1', 'shop.localhost/followed/2'])
  socket.close()
})

test('the traffic of an instance since a time is known to the control plane', async () => {
  const since = platform.context.now()
  // The reading that holds the requests before.
  await sleep(1500)
  const from = platform.context.now()
  for (let count = 0; count < 30; count++) await (await visit('/counted')).text()
  const traffic = await until('they are counted', () => {
    const window = platform.context.traffic.since([instanceId], from)
    return window.requests >= 30 && window
  })
  expect(traffic).toMatchObject({ requests: 30, byClass: { '2xx': 30, '5xx': 0, none: 0 }, ingressErrors: 0 })
  expect(traffic.p50Ms).toBeGreaterThan(0)
  expect(traffic.p99Ms).toBeGreaterThanOrEqual(traffic.p50Ms)
  expect(traffic.bytesOut).toBeGreaterThan(0)
  expect(platform.context.traffic.since(['srv-none'], since).requests).toBe(0)
})

test('a new release has counts of its own from its first request', async () => {
  const since = platform.context.now()
  await service.goLive('hello-js', { 'more.txt': 'another release' })
  const [instance] = await service.settles('running')
  expect(instance?.id).not.toBe(instanceId)
  for (let count = 0; count < 5; count++) await (await visit('/')).text()
  const ids = [instance?.id ?? '']
  await until('they are counted', () => platform.context.traffic.since(ids, since).requests === 5)
})
