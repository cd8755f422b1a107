import { Database } from 'bun:sqlite'
import { beforeEach, expect, test } from 'vitest'
import { type EventSelection, listEvents } from '../../../../server/apps/events/list.ts'
import { events } from '../../../../server/apps/events/rows.ts'
import { recordEvent } from '../../../../server/apps/events/store.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { keepPlans } from '../../../../server/platform/db/stable-plan.ts'
import { type EventType, eventTypes } from '../../../../shared/event.ts'

const START = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const services = ['a', 'b', 'c', 'd'].map((letter) => `srv-${letter.repeat(20)}`)
const types: EventType[] = ['deploy_started', 'deploy_ended', 'server_failed']

let db: Database
beforeEach(() => {
  db = keepPlans(new Database(':memory:', { strict: true }))
  migrateDatabase(db)
  db.run('PRAGMA foreign_keys = OFF')
  for (let index = 0; index < 120; index++) {
    const id = services[index % 4] ?? ''
    recordEvent(db, {
      owner: { id, workspaceId: index % 4 === 3 ? 'tea-2' : 'tea-1' },
      type: types[index % 3] ?? 'deploy_ended',
      now: START + index * MINUTE_MS,
    })
  }
  db.run("UPDATE events SET environment_id = 'evm-' || (seq % 5)")
})

/** What a page holds, found by looking at every event. */
function slowly({ by, values, types: wanted, environmentIds }: EventSelection, isForward: boolean): string[] {
  const column = { workspace_id: 'workspaceId', service_id: 'serviceId', environment_id: 'environmentId' } as const
  const all = events
    .all(db, 'ORDER BY seq')
    .filter(
      (event) =>
        values.includes(event[column[by]] ?? '') &&
        (wanted?.includes(event.type) ?? true) &&
        (environmentIds?.includes(event.environmentId ?? '') ?? true),
    )
  return (isForward ? all : all.reverse()).map(({ id }) => id)
}

const selections: Record<string, EventSelection> = {
  'a workspace': { by: 'workspace_id', values: ['tea-1'], types: undefined },
  'some types of a workspace': { by: 'workspace_id', values: ['tea-1'], types: ['deploy_ended', 'server_failed'] },
  'a service': { by: 'service_id', values: services.slice(0, 1), types: undefined },
  'several services and types': { by: 'service_id', values: services.slice(0, 3), types: ['deploy_started', 'deploy_ended'] },
  'services while they were in an environment': { by: 'service_id', values: services, types: undefined, environmentIds: ['evm-1'] },
  environments: { by: 'environment_id', values: ['evm-1', 'evm-3'], types: eventTypes },
  'many more streams than a page holds': { by: 'service_id', values: services, types: eventTypes },
  'types of services while they were in an environment': {
    by: 'service_id',
    values: services,
    types: eventTypes,
    environmentIds: ['evm-1'],
  },
  nothing: { by: 'service_id', values: [], types: undefined },
}

test.each(Object.entries(selections))('pages of %s hold each event once, in order, in both directions', (_, selection) => {
  for (const direction of ['backward', 'forward'] as const) {
    const expected = slowly(selection, direction === 'forward')
    for (const limit of [1, 7, 100]) {
      const seen: string[] = []
      for (let cursor: string | undefined; ; ) {
        const found = listEvents(db, selection, { direction, limit, ...(cursor && { cursor }) })
        seen.push(...found.map(({ id }) => id))
        if (found.length === 0) break
        cursor = cursorAt(found.at(-1)?.id ?? '')
      }
      expect(seen).toEqual(expected)
    }
  }
})

const cursorAt = (id: string): string => Buffer.from(JSON.stringify([id])).toString('base64url')
const everything: EventSelection = { by: 'workspace_id', values: ['tea-1', 'tea-2'], types: undefined }
const minute = (count: number): string => new Date(START + count * MINUTE_MS).toISOString()
const minutesOf = (bounds: Parameters<typeof listEvents>[2]): number[] =>
  listEvents(db, everything, { limit: 100, ...bounds }).map(({ timestamp }) => (Date.parse(timestamp) - START) / MINUTE_MS)

test('times bound a page on both sides, and both are part of it', () => {
  expect(minutesOf({ startTime: minute(10), endTime: minute(12) })).toEqual([12, 11, 10])
  expect(minutesOf({ startTime: minute(10), endTime: minute(12), direction: 'forward' })).toEqual([10, 11, 12])
  expect(minutesOf({ startTime: minute(119) })).toEqual([119])
  expect(minutesOf({ startTime: minute(120) })).toEqual([])
  expect(minutesOf({ endTime: minute(-1) })).toEqual([])
  expect(minutesOf({ endTime: minute(0) })).toEqual([0])
})

test('times are found where events between have been forgotten', () => {
  db.run('DELETE FROM events WHERE seq < 20 OR seq BETWEEN 40 AND 90')
  expect(minutesOf({ startTime: minute(36), endTime: minute(92) })).toEqual([92, 91, 90, 38, 37, 36])
  expect(minutesOf({ endTime: minute(18) })).toEqual([])
})

test('a cursor holds when its event has been forgotten', () => {
  const [first, second, third] = events.all(db, 'WHERE seq IN (50, 51, 52) ORDER BY seq')
  db.run('DELETE FROM events WHERE seq = 51')
  const cursor = cursorAt(second?.id ?? '')
  expect(listEvents(db, everything, { cursor, limit: 1 })).toEqual([first])
  expect(listEvents(db, everything, { cursor, limit: 1, direction: 'forward' })).toEqual([third])
})

test('whoever follows is given what comes later, whatever its time says', () => {
  const newest = listEvents(db, everything, { limit: 1 })[0]
  const cursor = cursorAt(newest?.id ?? '')
  expect(listEvents(db, everything, { cursor, direction: 'forward' })).toEqual([])
  recordEvent(db, { owner: { workspaceId: 'tea-1' }, type: 'service_deleted', now: START + 118 * MINUTE_MS })
  const later = listEvents(db, everything, { cursor, direction: 'forward' })
  expect(later).toMatchObject([{ type: 'service_deleted', serviceId: null, timestamp: minute(119) }])
})
