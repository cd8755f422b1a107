import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { listEntries } from '../../../../server/identity/audit-chain/store.ts'
import { verifyDatabase } from '../../../../server/identity/audit-chain/verify-database.ts'
import { exportChain } from '../../../../server/identity/audit-log/export.ts'
import { inOneChange } from '../../../../server/platform/db/change.ts'
import type { AuditEntry } from '../../../../shared/audit.ts'
import { call } from '../../../support/client.ts'
import { registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { type LogWorld, openLogWorld } from './log-world.ts'

const STEP_MS = 1000
const START = Date.parse('2026-02-01T12:00:00.000Z')
const COUNT = 60

let world: LogWorld
let now = START
beforeEach(async () => {
  now = START
  world = await openLogWorld(() => {
    now += STEP_MS
    return now
  })
  world.write(COUNT)
})
afterEach(() => world.close())

const everything = { events: [], actors: [], after: 0, before: Number.MAX_SAFE_INTEGER, order: 'DESC', limit: 1000 } as const
const sequences = (filter: Partial<Parameters<typeof listEntries>[2]>) =>
  listEntries(world.db, world.workspaceId, { ...everything, ...filter }).map(({ sequence }) => sequence)
const all = Array.from({ length: COUNT }, (_, index) => index + 1)

describe('entries', () => {
  test('of several events and actors come in one order, each once', () => {
    const events = ['service.updated', 'access.denied']
    expect(sequences({ events, order: 'ASC' })).toEqual(all.filter((sequence) => (sequence - 1) % 3 !== 1))
    const actors = ['ada@example.com', 'usr-00000000000000000001', 'key-00000000000000000001']
    expect(sequences({ actors })).toEqual(all.filter((sequence) => (sequence - 1) % 3 !== 2).reverse())
    expect(sequences({ events, actors })).toEqual(all.filter((sequence) => (sequence - 1) % 3 === 0).reverse())
    expect(sequences({ events: ['no.such'], actors })).toEqual([])
  })

  test('are found by an index, and sorted by none', () => {
    const asked: string[] = []
    const spy = vi.spyOn(world.db, 'query').mockImplementation((sql) => {
      asked.push(sql)
      return world.db.prepare(sql)
    })
    const filters = [{}, { events: ['access.denied'] }, { actors: ['key-1'] }, { actors: ['a@example.com'] }]
    for (const filter of filters) sequences({ ...filter, after: 5, before: 50 })
    spy.mockRestore()
    const indexes = ['PRIMARY KEY', 'audit_log_by_event', 'audit_log_by_actor', 'audit_log_by_email']
    for (const [index, sql] of asked.entries()) {
      const found = JSON.stringify(world.db.query(`EXPLAIN QUERY PLAN ${sql}`).all())
      expect(found).toContain(indexes[index])
      expect(found).toMatch(/seq>\? AND seq<\?/)
      expect(found).not.toContain('TEMP B-TREE')
    }
  })

  test('never go back in time, whatever the clock does', () => {
    now = START - 1_000_000
    world.write(2)
    const times = listEntries(world.db, world.workspaceId, everything).map(({ timestamp }) => timestamp)
    expect(times).toEqual([...times].sort().reverse())
    expect(world.verify().fault).toBeUndefined()
  })

  test('that a change throws away leave no gap', () => {
    for (const nest of [(work: () => void) => world.db.transaction(work).immediate(), (work: () => void) => inOneChange(world.db, work)]) {
      const failing = () =>
        nest(() => {
          world.write(3)
          throw new Error('changed its mind')
        })
      expect(failing).toThrow('changed its mind')
    }
    world.write(1)
    expect(world.verify()).toMatchObject({ entries: COUNT + 1, fault: undefined })
  })

  test('keep half characters and NULs from breaking the chain', () => {
    const odd = 'a\0b\ud800c'
    world.audit.append([world.workspaceId], {
      event: 'odd',
      status: 'success',
      actor: { type: 'user', id: odd, email: odd },
      target: odd,
      metadata: { odd, 10: 'ten', 2: 'two', missing: undefined, list: [undefined, Number.NaN] },
    })
    expect(world.verify().fault).toBeUndefined()
  })

  test('are cut to a size that a log can hold', () => {
    const metadata = { operation: 'replaceEnvVars', request: Object.fromEntries(all.map((index) => [`key-${index}`, 'x'.repeat(1000)])) }
    world.audit.append([world.workspaceId], { event: 'large', status: 'success', actor: { type: 'system' }, metadata })
    const [entry] = listEntries(world.db, world.workspaceId, { ...everything, limit: 1 })
    expect(entry?.metadata).toMatchObject({ operation: 'replaceEnvVars', isCut: true })
    expect(JSON.stringify(entry).length).toBeLessThan(20_000)
  })
})

test('every chain of a database is verified, and each by itself', () => {
  world.write(5, 'tea-11111111111111111111')
  world.unguard()
  world.db.run("UPDATE audit_log SET event = 'x' WHERE workspace_id = 'tea-11111111111111111111' AND seq = 2")
  expect(verifyDatabase(world.db, world.audit.publicKey)).toMatchObject([
    { workspaceId: 'tea-11111111111111111111', entries: 5, fault: { kind: 'changed', sequence: 2 } },
    { workspaceId: world.workspaceId, entries: COUNT, fault: undefined },
  ])
})

test('an export holds what is written while it runs, and ends with just that', async () => {
  world.write(1000)
  const decoder = new TextDecoder()
  let text = ''
  let written = 0
  for await (const chunk of exportChain(world, world.workspaceId, 1)) {
    text += decoder.decode(chunk)
    if (written++ < 3) world.write(1)
  }
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; entry?: AuditEntry; head?: { sequence: number } })
  const entries = lines.flatMap(({ entry }) => (entry === undefined ? [] : [entry.sequence]))
  expect(entries).toEqual(entries.map((_, index) => index + 1))
  expect(lines.at(-1)?.head?.sequence).toBe(entries.at(-1))
  expect(entries.length).toBe(COUNT + 1003)
})

describe('GET /v1/audit-logs', () => {
  let server: TestServer
  beforeEach(async () => {
    server = await startTestServer()
  })
  afterEach(() => server.close())

  const ask = async (query: string, token = server.adminToken) =>
    (await call<{ auditLog: AuditEntry; cursor: string }[]>(`${server.url}/v1/audit-logs?${query}`, { token })).body

  test('walks to both ends, each entry once, with up to 1000 at once', async () => {
    const { workspaceId } = JSON.parse(
      server.db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'seeded'").get()?.value ?? '',
    )
    for (let index = 0; index < 1100; index++) server.context.audit.system({ event: 'test.event', workspaceId, metadata: { index } })
    for (const direction of ['backward', 'forward']) {
      const seen: number[] = []
      for (let cursor = ''; ; ) {
        const page = await ask(`direction=${direction}&limit=100000${cursor === '' ? '' : `&cursor=${cursor}`}`)
        if (page.length === 0) break
        expect(page.length).toBeLessThanOrEqual(1000)
        seen.push(...page.map(({ auditLog }) => auditLog.sequence))
        cursor = encodeURIComponent(page.at(-1)?.cursor ?? '')
      }
      // The first of all is that the server was started for the first time.
      const wanted = Array.from({ length: 1 + 1100 }, (_, index) => index + 1)
      expect(seen).toEqual(direction === 'forward' ? wanted : wanted.reverse())
    }
  })

  test('takes a range of times, both ends included', async () => {
    for (let index = 0; index < 5; index++) {
      server.context.audit.system({ event: 'test.event', metadata: { index } })
      await Bun.sleep(3)
    }
    const times = (await ask('direction=forward')).map(({ auditLog }) => auditLog.timestamp)
    const [, from = '', , to = ''] = times
    const found = await ask(`direction=forward&startTime=${from}&endTime=${to}`)
    expect(found.map(({ auditLog }) => auditLog.timestamp)).toEqual(times.filter((time) => time >= from && time <= to))
  })

  test('never mixes two workspaces', async () => {
    const tenant = await registerTenant(server, 'tenant@example.com')
    const own = (await ask('limit=1000', tenant.token)).map(({ auditLog }) => auditLog)
    expect(own.map(({ event }) => event)).toEqual(['api_key.created', 'user.registered'])
    expect(own.map(({ sequence }) => sequence)).toEqual([2, 1])
    const foreign = await call(`${server.url}/v1/owners/${tenant.workspaceId}/audit-logs`, { token: server.adminToken })
    expect(foreign.status).toBe(404)
    const { body } = await call<string>(`${server.url}/v1/audit-logs/export`, { token: server.adminToken })
    expect(JSON.stringify(body)).not.toContain('tenant@example.com')
  })
})
