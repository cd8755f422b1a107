import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DeniedRequest } from '../../../../server/http/handlers/audit.ts'
import { MAX_ENTRIES_OF_ONE, MAX_ENTRIES_PER_HOUR } from '../../../../server/identity/audit-log/denial-budgets.ts'
import { createDenials } from '../../../../server/identity/audit-log/denials.ts'
import { createServerLog } from '../../../../server/platform/server-log.ts'
import { type LogWorld, openLogWorld } from './log-world.ts'

const HOUR_MS = 60 * 60_000
let world: LogWorld
let now = Date.parse('2026-02-01T12:00:00.000Z')
const logged: string[] = []

beforeEach(async () => {
  world = await openLogWorld()
  const seeded = JSON.stringify({ workspaceId: world.workspaceId, userId: 'usr-1' })
  world.db.query("INSERT INTO meta (key, value) VALUES ('seeded', ?)").run(seeded)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] })
})
afterEach(() => {
  vi.useRealTimers()
  world.close()
})

const open = (stopping = new AbortController().signal) =>
  createDenials({ db: world.db, audit: world.audit, log: createServerLog((line) => logged.push(line)), now: () => now, stopping })

const attempt = (changes: Partial<DeniedRequest> = {}): DeniedRequest => ({
  operationId: 'listServices',
  method: 'GET',
  path: '/v1/services',
  reason: 'unauthorized',
  isAdmitted: false,
  message: 'Log in.',
  actor: undefined,
  address: '192.0.2.1',
  requestId: 'request-1',
  facts: {},
  ...changes,
})

const entries = () =>
  world.db
    .query<{ event: string; metadata: string }, []>('SELECT event, metadata FROM audit_log ORDER BY seq')
    .all()
    .map(({ event, metadata }) => ({ event, ...(JSON.parse(metadata) as Record<string, unknown>) }))

test('the first is written at once, and what follows within a minute counted', () => {
  const denials = open()
  denials.report(attempt())
  vi.advanceTimersByTime(1)
  expect(entries()).toMatchObject([{ event: 'access.denied', operation: 'listServices', reason: 'unauthorized' }])
  for (let count = 0; count < 500; count++) denials.report(attempt({ operationId: count % 2 === 0 ? 'me' : 'listServices' }))
  vi.advanceTimersByTime(60_000)
  expect(entries().slice(1)).toEqual([
    { event: 'access.denied', reason: 'unauthorized', repeats: 500, withinSeconds: 60, operations: ['listServices', 'me'] },
  ])
  denials.report(attempt())
  vi.advanceTimersByTime(1)
  expect(entries()).toHaveLength(3)
})

describe('counted apart are', () => {
  test.each<[string, Partial<DeniedRequest>]>([
    ['another address', { address: '192.0.2.2' }],
    ['another reason', { reason: 'forbidden' }],
    ['a password that is wrong', { isAdmitted: true, operationId: 'login' }],
    ['another account', { facts: { actor: { type: 'user', id: 'usr-2', email: 'b@example.com' } } }],
  ])('%s', (_, changes) => {
    const denials = open()
    denials.report(attempt())
    denials.report(attempt(changes))
    vi.advanceTimersByTime(1)
    expect(entries()).toHaveLength(2)
  })
})

test('addresses of one IPv6 network are one', () => {
  const denials = open()
  for (let host = 1; host < 100; host++) denials.report(attempt({ address: `2001:db8::${host.toString(16)}` }))
  vi.advanceTimersByTime(1)
  expect(entries()).toHaveLength(1)
})

test('a flood from everywhere is bounded by the hour, and the next hour tells of what was left out', () => {
  const denials = open()
  for (let host = 0; host < 5000; host++) denials.report(attempt({ address: `10.0.${host >> 8}.${host & 255}` }))
  vi.advanceTimersByTime(60_000)
  expect(entries()).toHaveLength(MAX_ENTRIES_PER_HOUR)
  now += HOUR_MS
  denials.report(attempt({ address: '203.0.113.1' }))
  vi.advanceTimersByTime(1)
  const [told, last] = entries().slice(MAX_ENTRIES_PER_HOUR)
  expect(told).toMatchObject({ event: 'access.denied_suppressed', maxEntriesPerHour: MAX_ENTRIES_PER_HOUR })
  expect(Number((told as Record<string, unknown> | undefined)?.attempts)).toBeGreaterThan(0)
  expect(last).toMatchObject({ event: 'access.denied' })
})

test('a flood of strangers, or of one account, takes no room of others', () => {
  const denials = open()
  for (let host = 0; host < 5000; host++) denials.report(attempt({ address: `10.0.${host >> 8}.${host & 255}` }))
  const onAccount = (id: string, address: string) =>
    attempt({ address, isAdmitted: true, operationId: 'login', facts: { actor: { type: 'user', id, email: `${id}@example.com` } } })
  for (let host = 0; host < 300; host++) denials.report(onAccount('usr-1', `10.1.${host >> 8}.${host & 255}`))
  denials.report(onAccount('usr-2', '203.0.113.1'))
  vi.advanceTimersByTime(1)
  const targets = world.db.query<{ target: string; n: number }, []>('SELECT target, count(*) AS n FROM audit_log GROUP BY target').all()
  expect(targets).toEqual([
    { target: null, n: MAX_ENTRIES_PER_HOUR },
    { target: 'usr-1', n: MAX_ENTRIES_OF_ONE },
    { target: 'usr-2', n: 1 },
  ])
})

test('what was counted is told when the server stops', () => {
  const stopper = new AbortController()
  const denials = open(stopper.signal)
  denials.report(attempt())
  denials.report(attempt())
  vi.advanceTimersByTime(1)
  stopper.abort()
  expect(entries()).toMatchObject([{}, { repeats: 1 }])
})

test('an entry that cannot be written is told to the operator', () => {
  const denials = open()
  world.db.run("CREATE TRIGGER fails BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'no'); END")
  denials.report(attempt())
  vi.advanceTimersByTime(1)
  expect(logged.at(-1)).toContain('denied attempt not written down')
})
