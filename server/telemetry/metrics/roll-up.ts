import type { MetricsDatabase, Opened } from './database.ts'
import { datastoreKind, type Kind, type SampleRow, trafficKind, usageKind } from './kinds.ts'
import { fineLevel, finerThan, floorTo, type Level, levels } from './levels.ts'
import type { Pause } from './pause.ts'
import { rolledUntil } from './read.ts'

/** Series whose samples are joined in one step: a few milliseconds. */
const SERIES_PER_STEP = 50

/** Makes the windows of every level that are due, up to `until` (seconds since 1970). What was made before a crash is made again, the same. */
export async function rollUp(database: MetricsDatabase, until: number, pause: Pause): Promise<void> {
  for (const level of levels) {
    if (level === fineLevel) continue
    const target = floorTo(until, level.madeEverySeconds)
    const begin = database.use((opened) => beginningOf(opened, level))
    if (begin === undefined) continue
    for (let at = begin; at < target; at += level.stepSeconds) {
      at = database.use((opened) => nextOf(opened, level, at)) ?? target
      if (at < target) await makeWindow(database, { level, at }, pause)
    }
    // A clock that was set back may have left it in the future.
    if (begin < target || begin > until) database.use((opened) => setRolled(opened, level, target))
  }
}

async function makeWindow(database: MetricsDatabase, { level, at }: Pick<Windows, 'level' | 'at'>, pause: Pause): Promise<void> {
  for (let next: number | undefined = 0; next !== undefined; ) {
    const firstSeries: number = next
    next = database.use((opened) => makeWindows(opened, { level, at, firstSeries }))
    await pause()
  }
  database.use((opened) => setRolled(opened, level, at + level.stepSeconds))
}

function nextOf(opened: Opened, level: Level, at: number): number | undefined {
  if (finerThan(level) !== fineLevel) return at
  const oldest = oldestFine(opened, at)
  return oldest === undefined ? undefined : floorTo(oldest, level.stepSeconds)
}

function beginningOf(opened: Opened, level: Level): number | undefined {
  const done = rolledUntil(opened, level)
  if (done !== undefined) return done
  const finer = finerThan(level)
  const oldest = finer === fineLevel ? oldestFine(opened) : finer && oldestCoarse(opened, finer)
  return oldest === undefined ? undefined : floorTo(oldest, level.stepSeconds)
}

export function oldestFine({ db }: Opened, from = 0): number | undefined {
  const sql = `SELECT min(at) AS at FROM (SELECT min(at) AS at FROM usage_fine WHERE at >= $from
    UNION ALL SELECT min(at) FROM traffic_fine WHERE at >= $from
    UNION ALL SELECT min(at) FROM datastores_fine WHERE at >= $from)`
  return db.query<{ at: number | null }, { from: number }>(sql).get({ from })?.at ?? undefined
}

function oldestCoarse({ db }: Opened, { stepSeconds }: Level): number | undefined {
  const sql = `SELECT min(at) AS at FROM (SELECT min(at) AS at FROM usage WHERE step = $step UNION ALL SELECT min(at) FROM traffic WHERE step = $step)`
  return db.query<{ at: number | null }, { step: number }>(sql).get({ step: stepSeconds })?.at ?? undefined
}

function setRolled({ db }: Opened, { stepSeconds }: Level, until: number): void {
  db.query('INSERT OR REPLACE INTO rolled (step, until) VALUES (?, ?)').run(stepSeconds, until)
}

interface Windows {
  level: Level
  at: number
  firstSeries: number
}

/** Makes the window at `at` of some series; returns where the next series begin, or undefined after the last. */
function makeWindows(opened: Opened, { level, at, firstSeries }: Windows): number | undefined {
  const condition = level.isByServiceOnly ? "AND instance = ''" : ''
  const ids = opened.db
    .query<{ id: number }, [number, number]>(`SELECT id FROM series WHERE id >= ? ${condition} ORDER BY id LIMIT ?`)
    .all(firstSeries, SERIES_PER_STEP)
    .map(({ id }) => id)
  const last = ids.at(-1)
  if (last === undefined) return undefined
  opened.db
    .transaction(() => {
      joinInto(opened, usageKind, { level, at, ids })
      joinInto(opened, trafficKind, { level, at, ids })
      joinInto(opened, datastoreKind, { level, at, ids })
    })
    .immediate()
  return ids.length < SERIES_PER_STEP ? undefined : last + 1
}

function joinInto<S>(opened: Opened, kind: Kind<S>, { level, at, ids }: { level: Level; at: number; ids: number[] }): void {
  const parts = new Map<number, S[]>()
  for (const row of partsOf(opened, kind, { level, at, ids })) {
    const of = parts.get(row.series)
    if (of === undefined) parts.set(row.series, [kind.fromRow(row)])
    else of.push(kind.fromRow(row))
  }
  const { table, columns } = kind
  const marks = columns.map(() => '?').join(', ')
  const insert = opened.db.query(`INSERT OR REPLACE INTO ${table} (step, series, at, ${columns.join(', ')}) VALUES (?, ?, ?, ${marks})`)
  for (const [series, samples] of parts) insert.run(level.stepSeconds, series, at, ...kind.toValues(kind.join(at, samples)))
}

function partsOf<S>({ db }: Opened, { table, columns }: Kind<S>, of: { level: Level; at: number; ids: number[] }): SampleRow[] {
  const { level, at, ids } = of
  const finer = finerThan(level) ?? fineLevel
  const end = at + level.stepSeconds
  const wanted = `series, at, ${columns.join(', ')}`
  if (finer === fineLevel) {
    const sql = `SELECT ${wanted} FROM ${table}_fine WHERE at >= ? AND at < ? AND series BETWEEN ? AND ? ORDER BY at`
    return db.query<SampleRow, [number, number, number, number]>(sql).all(at, end, ids[0] ?? 0, ids.at(-1) ?? 0)
  }
  const sql = `SELECT ${wanted} FROM ${table} WHERE step = ? AND series = ? AND at >= ? AND at < ? ORDER BY at`
  const select = db.query<SampleRow, [number, number, number, number]>(sql)
  return ids.flatMap((id) => select.all(finer.stepSeconds, id, at, end))
}
