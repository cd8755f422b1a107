import { Database } from 'bun:sqlite'
import { beforeEach, expect, test } from 'vitest'
import { beginReading, markRead, nextEvents } from '../../../../server/apps/events/readers.ts'
import { forgetEventsBefore, forgetEventsOf, forgetOldEvents, recordEvent } from '../../../../server/apps/events/store.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'

const owner = { id: 'srv-00000000000000000000', workspaceId: 'tea-1' }

let db: Database
beforeEach(() => {
  db = new Database(':memory:', { strict: true })
  migrateDatabase(db)
})

const record = (...times: number[]): void => {
  for (const now of times) recordEvent(db, { owner, type: 'server_restarted', now })
}
const times = (): number[] =>
  db
    .query<{ at: number }, []>('SELECT created_at AS at FROM events ORDER BY seq')
    .all()
    .map(({ at }) => at)

test('a clock that is set back makes no event earlier than the one before it, unless it is set back far', () => {
  const hour = 3_600_000
  record(10 * hour, 10 * hour - 5000, 10 * hour + 1, 2 * hour)
  expect(times()).toEqual([10 * hour, 10 * hour, 10 * hour + 1, 2 * hour])
})

test('old events are forgotten, oldest first, in steps', () => {
  record(1, 2, 3, 4, 5)
  expect(forgetEventsBefore(db, { before: 4, count: 2 })).toBe(2)
  expect(forgetEventsBefore(db, { before: 4, count: 2 })).toBe(1)
  expect(forgetEventsBefore(db, { before: 4, count: 2 })).toBe(0)
  expect(times()).toEqual([4, 5])
})

test('what a reader has not had yet is kept, however old', () => {
  record(1)
  beginReading(db, 'hooks')
  record(2, 3)
  expect(forgetEventsBefore(db, { before: 9, count: 9 })).toBe(1)
  forgetOldEvents(db, { serviceId: owner.id, types: ['server_restarted'], count: 0 })
  expect(times()).toEqual([2, 3])
  markRead(db, 'hooks', nextEvents(db, 'hooks', 1)[0]?.seq ?? 0)
  expect(forgetEventsBefore(db, { before: 9, count: 9 })).toBe(1)
  expect(times()).toEqual([3])
})

test('a webhook that is slow keeps the events of its workspace, and holds up no other', () => {
  db.run('PRAGMA foreign_keys = OFF')
  for (const [id, isEnabled, cursorSeq] of [
    ['whk-slow', 1, 1],
    ['whk-off', 0, 0],
  ] as const)
    db.query(
      `INSERT INTO webhooks (id, workspace_id, name, url, is_enabled, event_filter, service_ids, environment_ids, project_ids, secret_sealed,
         cursor_seq, created_at, updated_at) VALUES (?, 'tea-1', '', '', ?, '[]', '[]', '[]', '[]', '', ?, 0, 0)`,
    ).run(id, isEnabled, cursorSeq)
  record(1, 2, 3)
  for (const now of [4, 5]) recordEvent(db, { owner: { workspaceId: 'tea-2' }, type: 'server_restarted', now })
  expect(forgetEventsBefore(db, { before: 9, count: 9 })).toBe(3)
  expect(times()).toEqual([2, 3])
  forgetOldEvents(db, { serviceId: owner.id, types: ['server_restarted'], count: 0 })
  expect(times()).toEqual([2, 3])
  db.run("UPDATE webhooks SET cursor_seq = 3 WHERE id = 'whk-slow'")
  expect(forgetEventsBefore(db, { before: 9, count: 9 })).toBe(2)
})

test('a reader is given each event once, through restarts, from when it began', () => {
  record(1)
  beginReading(db, 'hooks')
  record(2, 3, 4)
  beginReading(db, 'hooks')
  const given: number[] = []
  for (let found = nextEvents(db, 'hooks', 2); found.length > 0; found = nextEvents(db, 'hooks', 2)) {
    given.push(...found.map(({ timestamp }) => Date.parse(timestamp)))
    markRead(db, 'hooks', found.at(-1)?.seq ?? 0)
  }
  expect(given).toEqual([2, 3, 4])
})

test('a reader that begins when all events are forgotten is not given numbers a second time', () => {
  record(1, 2)
  forgetEventsOf(db, owner.workspaceId, 9)
  beginReading(db, 'hooks')
  record(3)
  expect(nextEvents(db, 'hooks', 9)).toMatchObject([{ seq: 3, timestamp: new Date(3).toISOString() }])
})

test('of what happens again and again the newest of a service are kept', () => {
  record(1, 2, 3, 4)
  forgetOldEvents(db, { serviceId: owner.id, types: ['server_restarted', 'server_failed'], count: 2 })
  expect(times()).toEqual([3, 4])
})
