import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LogPage } from '../../shared/log.ts'
import { createService } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { addDatastore } from '../support/datastores.ts'
import { defaultWorkspaceId, registerTenant } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { expectError } from './expect-error.ts'

const COUNT = 25
const startedAt = Date.parse('2026-01-01T00:00:00Z')
let server: TestServer
let serviceId: string
let otherId: string
beforeAll(async () => {
  server = await startTestServer()
  serviceId = await createService(server, { name: 'logging' })
  otherId = await createService(server, { name: 'other' })
  const line = (index: number) => ({
    // Several lines share a millisecond, so that no page can be told by its time alone.
    timestampMs: startedAt + Math.floor(index / 4) * 1000,
    resource: index % 5 === 4 ? otherId : serviceId,
    instance: `${serviceId}-0000${index % 2}`,
    type: index % 3 === 0 ? ('build' as const) : ('app' as const),
    level: index % 2 === 0 ? ('info' as const) : ('error' as const),
    message: `line ${index} ${index % 2 === 0 ? 'even' : 'odd'} Grüße`,
  })
  server.context.logStore.append(Array.from({ length: COUNT }, (_, index) => line(index)))
})
afterAll(() => server.close())

const ask = async (query: string, token = server.adminToken): Promise<LogPage> => {
  const { status, body } = await call<LogPage>(`${server.url}/v1/logs?${query}`, { token })
  expect({ status, body: status === 200 ? '' : body }).toEqual({ status: 200, body: '' })
  return body
}
const numbersOf = ({ logs }: LogPage): number[] => logs.map(({ message }) => Number(message.split(' ')[1]))
const all = Array.from({ length: COUNT }, (_, index) => index)

async function walk(direction: 'backward' | 'forward', limit: number): Promise<number[]> {
  const seen: number[] = []
  let query = `direction=${direction}&limit=${limit}`
  for (;;) {
    const page = await ask(query)
    seen.push(...numbersOf(page))
    if (!page.hasMore) return seen
    const times = new URLSearchParams({ startTime: page.nextStartTime, endTime: page.nextEndTime })
    query = `direction=${direction}&limit=${limit}&${times}`
  }
}

describe('logs', () => {
  test.each([1, 2, 3, 7, 25, 26])('by pages of %d give every line once, newest first or oldest first', async (limit) => {
    expect(await walk('forward', limit)).toEqual(all)
    expect(await walk('backward', limit)).toEqual(all.toReversed())
  })

  test('give 20 unless asked otherwise, and clamp a larger limit', async () => {
    expect((await ask('')).logs.length).toBe(20)
    const whole = await ask('limit=100000')
    expect(whole).toMatchObject({ hasMore: false, logs: { length: COUNT } })
  })

  test('are found by service, instance, level, type, words and time, and all of them together', async () => {
    const find = async (query: string) => numbersOf(await ask(`direction=forward&limit=100&${query}`))
    expect(await find(`resource=${otherId}`)).toEqual(all.filter((index) => index % 5 === 4))
    expect(await find(`resource=${otherId},${serviceId}`)).toEqual(all)
    expect(await find(`resource=${otherId}&resource=${serviceId}`)).toEqual(all)
    expect(await find('level=error')).toEqual(all.filter((index) => index % 2 === 1))
    expect(await find('type=build')).toEqual(all.filter((index) => index % 3 === 0))
    expect(await find('type=build,app&level=info,error')).toEqual(all)
    expect(await find(`instance=${serviceId}-00001`)).toEqual(all.filter((index) => index % 2 === 1))
    expect(await find('text=odd')).toEqual(all.filter((index) => index % 2 === 1))
    expect(await find(`text=${encodeURIComponent('Grüße')}&text=even`)).toEqual(all.filter((index) => index % 2 === 0))
    expect(await find('text=nowhere')).toEqual([])
    expect(await find('startTime=2026-01-01T00:00:05Z')).toEqual(all.filter((index) => index >= 20))
    expect(await find(`endTime=${encodeURIComponent('2026-01-01T01:00:01+01:00')}`)).toEqual([0, 1, 2, 3])
    expect(await find(`resource=${otherId}&level=info&type=app&text=even`)).toEqual(
      all.filter((index) => index % 5 === 4 && index % 2 === 0 && index % 3 !== 0),
    )
  })

  test('of requests are found by host, method, status and path, with * for any characters', async () => {
    const request = (method: string, statusCode: string, path: string) => ({
      ...{ timestampMs: startedAt + 3_600_000, resource: serviceId, instance: '', type: 'request' as const, level: 'info' as const },
      ...{ message: `[${method}] ${statusCode} logging.localhost${path}`, labels: { host: 'logging.localhost', method, statusCode, path } },
    })
    const requests = [
      request('GET', '200', '/'),
      request('GET', '404', '/api/x'),
      request('POST', '503', '/api/y'),
      request('POST', '500', '/z'),
    ]
    server.context.logStore.append(requests)
    const find = async (query: string) =>
      (await ask(`direction=forward&limit=100&startTime=2026-01-01T01:00:00Z&${query}`)).logs.map(({ message }) => message)
    const messages = requests.map(({ message }) => message)
    expect(await find('type=request')).toEqual(messages)
    expect(await find('method=post')).toEqual(messages.slice(2))
    expect(await find('statusCode=5*')).toEqual(messages.slice(2))
    expect(await find('statusCode=200,404')).toEqual(messages.slice(0, 2))
    expect(await find('path=/api/*&method=GET')).toEqual(messages.slice(1, 2))
    expect(await find('host=LOGGING.localhost&path=/')).toEqual(messages.slice(0, 1))
    expect(await find('host=other.localhost')).toEqual([])
    const [first] = (await ask('statusCode=200')).logs
    expect(first?.labels).toEqual([
      { name: 'resource', value: serviceId },
      { name: 'level', value: 'info' },
      { name: 'type', value: 'request' },
      { name: 'host', value: 'logging.localhost' },
      { name: 'method', value: 'GET' },
      { name: 'statusCode', value: '200' },
      { name: 'path', value: '/' },
    ])
    const { body: paths } = await call<string[]>(`${server.url}/v1/logs/values?label=path&statusCode=5*`, { token: server.adminToken })
    expect(paths).toEqual(['/api/y', '/z'])
  })

  test('name the values that a label has', async () => {
    const values = async (query: string) => {
      const { body } = await call<string[]>(`${server.url}/v1/logs/values?${query}`, { token: server.adminToken })
      return body.toSorted()
    }
    expect(await values('label=resource')).toEqual([serviceId, otherId].toSorted())
    expect(await values('label=level')).toEqual(['error', 'info'])
    expect(await values('label=type&endTime=2026-01-01T00:30:00Z')).toEqual(['app', 'build'])
    expect(await values(`label=instance&resource=${serviceId}`)).toEqual([`${serviceId}-00000`, `${serviceId}-00001`])
    expect(await values('label=host&type=app')).toEqual([])
  })

  test('of another workspace are not there, neither asked for nor by leaving the service out', async () => {
    const stranger = await registerTenant(server, 'log-stranger@example.com')
    expect(await ask('limit=100', stranger.token)).toMatchObject({ hasMore: false, logs: [] })
    const values = await call<string[]>(`${server.url}/v1/logs/values?label=resource`, { token: stranger.token })
    expect(values.body).toEqual([])
  })

  test.each(['postgres', 'key_value'] as const)('are those of a %s as well, and only of the own workspace', async (kind) => {
    const stranger = await registerTenant(server, `${kind}-stranger@example.com`)
    const own = addDatastore(server, { workspaceId: await defaultWorkspaceId(server), kind })
    const theirs = addDatastore(server, { workspaceId: stranger.workspaceId, kind })
    for (const resource of [own, theirs])
      server.context.logStore.append([
        { timestampMs: Date.now(), resource, instance: `${resource}-00000`, type: 'app', level: 'info', message: `line of ${resource}` },
      ])
    expect((await ask(`resource=${own}`)).logs.map(({ message }) => message)).toEqual([`line of ${own}`])
    expect((await ask('limit=100', stranger.token)).logs.map(({ message }) => message)).toEqual([`line of ${theirs}`])
    for (const path of ['logs', 'logs/subscribe', 'logs/values?label=level', 'metrics/cpu', 'metrics/memory-limit'])
      expectError(
        await call(`${server.url}/v1/${path}${path.includes('?') ? '&' : '?'}resource=${theirs}`, { token: server.adminToken }),
        'not_found',
      )
  })
})
