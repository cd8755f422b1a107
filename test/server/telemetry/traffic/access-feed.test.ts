import { appendFileSync, existsSync, mkdirSync, readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type AccessWriter, accessFilePath, thisWriter } from '../../../../server/ingress/traffic/access-files.ts'
import { leftOutRecord } from '../../../../server/ingress/traffic/access-record.ts'
import { type Collector, createCollector } from '../../../../server/telemetry/logs/collector.ts'
import type { LogLine } from '../../../../server/telemetry/logs/line.ts'
import { openLogStore } from '../../../../server/telemetry/logs/store.ts'
import { startAccessFeed } from '../../../../server/telemetry/traffic/access-feed.ts'
import type { Repeated } from '../../../../server/telemetry/traffic/repeated.ts'
import { until } from '../../../support/until.ts'
import { type Fixture, makeStore } from '../logs/fixture.ts'

/** The process has ended. */
const gone: AccessWriter = { startedAt: 1_700_000_000_000, pid: 2 ** 22 + 1, start: '1' }

let fixture: Fixture
let dir: string
let collector: Collector
let feed: Repeated
const stored: LogLine[] = []
const errors: unknown[] = []

function start(store = fixture.store): void {
  collector = createCollector({ store, pollMs: 2 })
  feed = startAccessFeed({ dir, collector, hasService: (id) => id !== 'srv-deleted', onError: (error) => errors.push(error), pollMs: 5 })
}
async function stop(): Promise<void> {
  await feed.stop()
  await collector.stop()
}

beforeEach(() => {
  fixture = makeStore()
  dir = join(fixture.dir, 'access')
  mkdirSync(dir)
  stored.length = 0
  errors.length = 0
  fixture.store.listen((lines) => stored.push(...lines))
  start()
})
afterEach(async () => {
  await stop()
  expect(errors).toEqual([])
  fixture.remove()
})

const record = (number: number, { serviceId = 'srv-a', status = 200, target = '/', end = '.' } = {}) =>
  `${Date.now()}\t${serviceId}\t${serviceId}-00001\t${status}\t1.5\t2\t3\tHTTP/1.1\t127.0.0.1\trequest-${number}\tGET\tshop.test\t${target}\tcurl\t\t${end}\n`
const idsOf = (lines: readonly LogLine[]) => lines.map(({ message }) => Number(/requestID="request-(\d+)"/.exec(message)?.[1]))

test('a line is stored under its service, with its labels', async () => {
  appendFileSync(accessFilePath(dir, thisWriter(), 1), record(1, { target: '/api/users?page=2' }))
  await until('it is stored', () => stored.length === 1)
  expect(stored[0]).toMatchObject({
    ...{ resource: 'srv-a', instance: 'srv-a-00001', type: 'request', level: 'info' },
    labels: { host: 'shop.test', method: 'GET', statusCode: '200', path: '/api/users' },
    message:
      '[GET] 200 shop.test/api/users?page=2 clientIP="127.0.0.1" requestID="request-1" responseTimeMS=1.5 requestBytes=2 responseBytes=3 protocol="HTTP/1.1" userAgent="curl"',
  })
})

test('failures are of level error, and a client that left before an answer is told as 499', async () => {
  const lines = [
    record(1, { status: 503 }),
    record(2, { status: 200, end: 'b' }),
    record(3, { status: 0, end: 'c' }),
    record(4, { status: 404 }),
  ]
  appendFileSync(accessFilePath(dir, thisWriter(), 1), lines.join(''))
  await until('they are stored', () => stored.length === 4)
  expect(stored.map(({ level, labels }) => [level, labels?.statusCode])).toEqual([
    ['error', '503'],
    ['error', '200'],
    ['info', '499'],
    ['info', '404'],
  ])
  expect(stored.map(({ message }) => /cutOff="(\w+)"/.exec(message)?.[1])).toEqual([undefined, 'instance', 'client', undefined])
})

test('a file that is done with is removed once it is stored, and the one being written stays', async () => {
  const writer = thisWriter()
  for (const number of [1, 2, 3]) appendFileSync(accessFilePath(dir, writer, number), record(number))
  await until('two are removed', () => readdirSync(dir).length === 1 && stored.length === 3)
  expect(existsSync(accessFilePath(dir, writer, 3))).toBe(true)
  expect(idsOf(stored)).toEqual([1, 2, 3])
})

test('the files of an ingress that was killed are stored and removed, without a line that was cut short', async () => {
  appendFileSync(accessFilePath(dir, gone, 1), record(1) + record(2).slice(0, -6))
  await until('it is removed', () => readdirSync(dir).length === 0)
  expect(idsOf(stored)).toEqual([1])
})

test('lines of a service that is gone are dropped', async () => {
  appendFileSync(accessFilePath(dir, gone, 1), record(1, { serviceId: 'srv-deleted' }) + record(2))
  await until('it is removed', () => readdirSync(dir).length === 0)
  expect(stored.map(({ resource }) => resource)).toEqual(['srv-a'])
})

test('what was left out is told where it is missing', async () => {
  appendFileSync(accessFilePath(dir, gone, 1), leftOutRecord({ at: Date.now(), serviceId: 'srv-a', leftOut: 12 }))
  await until('it is stored', () => stored.length === 1)
  expect(stored[0]).toMatchObject({ resource: 'srv-a', type: 'request', level: 'warning', message: expect.stringContaining('12 lines') })
})

test('starting again goes on behind the last line stored', async () => {
  const path = accessFilePath(dir, thisWriter(), 1)
  appendFileSync(path, record(1))
  await until('it is stored', () => stored.length === 1)
  await stop()
  appendFileSync(path, record(2))
  const again = openLogStore(fixture.path)
  again.listen((lines) => stored.push(...lines))
  start(again)
  await until('the rest is stored', () => stored.length === 2)
  expect(idsOf(stored)).toEqual([1, 2])
  await stop()
  again.close()
  start()
})

test('lines of two hundred services in one file all arrive, each under its own', async () => {
  const count = 20_000
  const lines = Array.from({ length: count }, (_, number) => record(number, { serviceId: `srv-${number % 200}` }))
  appendFileSync(accessFilePath(dir, gone, 1), lines.join(''))
  await until('they are stored', () => stored.length === count)
  expect(new Set(idsOf(stored)).size).toBe(count)
  expect(stored.filter((line) => line.resource !== `srv-${(idsOf([line])[0] ?? 0) % 200}`)).toEqual([])
})

test('a file that the ingress had to drop is forgotten', async () => {
  const writer = thisWriter()
  const path = accessFilePath(dir, writer, 1)
  appendFileSync(path, record(1))
  await until('it is stored', () => stored.length === 1)
  expect(fixture.store.cursor(path)).toBeDefined()
  unlinkSync(path)
  await until('it is forgotten', () => fixture.store.cursor(path) === undefined)
})
