/**
 * A page of the events of a workspace and of a service among ten million, with each filter and at both ends.
 * The number of events may be given: `bun test/bench/events.ts 100000`.
 */
import type { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listEvents } from '../../server/apps/events/list.ts'
import { recordEvent } from '../../server/apps/events/store.ts'
import { migrateDatabase } from '../../server/platform/db/migrate.ts'
import { openDatabase } from '../../server/platform/db/open.ts'
import { eventTypes, wellKnownEventTypes } from '../../shared/event.ts'

const DEFAULT_EVENTS = 10_000_000
const BATCH = 500_000
const REPEATS = 50
const SINGLE_EVENTS = 2000
const START = Date.UTC(2026, 0, 1)
const workspaceId = 'tea-00000000000000000001'
const rare = 'certificate_failed'

/** A thousand services in ten environments; one event in a hundred thousand is of the rare type, all others of five. */
const fill = `WITH RECURSIVE numbers(n) AS (SELECT $from UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < $to)
  INSERT INTO events (id, workspace_id, service_id, service_name, environment_id, type, details, created_at)
  SELECT printf('evt-%020d', n), '${workspaceId}', printf('srv-%020d', n % 1000), 'service-' || (n % 1000), printf('evm-%020d', n % 10),
    iif(n % 100000 = 7, '${rare}', CASE n % 5 WHEN 0 THEN 'deploy_started' WHEN 1 THEN 'deploy_ended' WHEN 2 THEN 'build_started'
      WHEN 3 THEN 'build_ended' ELSE 'server_available' END),
    '{"deployId":"dep-00000000000000000000","status":"live"}', ${START} + n * 1000 FROM numbers`

export async function run(count = DEFAULT_EVENTS): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-events-'))
  const file = join(dir, 'control.db')
  const db = openDatabase(file)
  migrateDatabase(db)
  try {
    for (let from = 0; from < count; from += BATCH) db.query(fill).run({ from, to: Math.min(count, from + BATCH) })
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    report('space', `${Math.round(statSync(file).size / count)} bytes an event, indexes included`)
    for (const [name, work] of Object.entries(pages(db, count))) report(`a page: ${name}`, spread(work))
    const owner = { id: 'srv-00000000000000000007', workspaceId }
    const one = micros(SINGLE_EVENTS, () => recordEvent(db, { owner, type: 'deploy_ended', details: { deployId: 'dep' }, now: Date.now() }))
    report('an event, in a transaction of its own', `${one.toFixed(0)} µs`)
  } finally {
    db.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

function pages(db: Database, count: number): Record<string, () => unknown> {
  const whole = { by: 'workspace_id', values: [workspaceId], types: undefined } as const
  const service = (index: number) => `srv-${String(index).padStart(20, '0')}`
  const environment = (index: number) => `evm-${String(index).padStart(20, '0')}`
  const at = (part: number) => new Date(START + count * part * 1000).toISOString()
  const limit = 100
  return {
    'the newest': () => listEvents(db, whole, { limit }),
    'the oldest': () => listEvents(db, whole, { limit, direction: 'forward' }),
    'in the middle, by time': () => listEvents(db, whole, { limit, startTime: at(0.4), endTime: at(0.5) }),
    'a rare type': () => listEvents(db, { ...whole, types: [rare] }, { limit }),
    'all types by name': () => listEvents(db, { ...whole, types: eventTypes }, { limit }),
    'a type that never happens': () => listEvents(db, { ...whole, types: ['shell_opened'] }, { limit }),
    'a service': () => listEvents(db, { by: 'service_id', values: [service(7)], types: wellKnownEventTypes }, { limit }),
    'a rare type of a service': () => listEvents(db, { by: 'service_id', values: [service(7)], types: [rare] }, { limit }),
    'a hundred services': () =>
      listEvents(
        db,
        { by: 'service_id', values: Array.from({ length: 100 }, (_, index) => service(index)), types: undefined },
        { limit: 20 },
      ),
    'a hundred services, all types by name': () =>
      listEvents(db, { by: 'service_id', values: Array.from({ length: 100 }, (_, index) => service(index)), types: eventTypes }, { limit }),
    'an environment': () => listEvents(db, { by: 'environment_id', values: [environment(3)], types: eventTypes }, { limit }),
    'a project of three environments': () =>
      listEvents(db, { by: 'environment_id', values: [1, 2, 3].map(environment), types: eventTypes }, { limit: 20 }),
    'a service in an environment': () =>
      listEvents(db, { by: 'service_id', values: [service(3)], types: undefined, environmentIds: [environment(3)] }, { limit }),
  }
}

function spread(work: () => unknown): string {
  const first = micros(1, work)
  const times = Array.from({ length: REPEATS }, () => micros(1, work)).sort((one, other) => one - other)
  return `${ms(times[REPEATS >> 1])} median, ${ms(times.at(-1))} at most, ${ms(first)} the first`
}

const ms = (micros = 0): string => `${(micros / 1000).toFixed(2)} ms`

function micros(times: number, work: () => unknown): number {
  const startedAt = performance.now()
  for (let index = 0; index < times; index++) work()
  return ((performance.now() - startedAt) / times) * 1000
}

const report = (name: string, figure: string): void => console.log(`  ${name}: ${figure}`)

if (import.meta.main) await run(Number(process.argv[2] ?? DEFAULT_EVENTS))
