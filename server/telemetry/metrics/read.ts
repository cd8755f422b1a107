import type { Opened } from './database.ts'
import type { Kind, SampleRow } from './kinds.ts'
import { ceilTo, fineLevel, finerThan, type Level } from './levels.ts'

export interface Range {
  seriesIds: readonly number[]
  level: Level
  start: number
  end: number
}

/** The samples of some series at a level, oldest first; where that level is not made yet, the samples of the finer one. */
export function readSamples<S>(opened: Opened, kind: Kind<S>, range: Range): Map<number, S[]> {
  const found = new Map<number, S[]>()
  for (const row of rowsOf(opened, kind, range)) {
    const samples = found.get(row.series)
    if (samples === undefined) found.set(row.series, [kind.fromRow(row)])
    else samples.push(kind.fromRow(row))
  }
  return found
}

function rowsOf<S>(opened: Opened, kind: Kind<S>, range: Range): SampleRow[] {
  const { level, start, end } = range
  const finer = finerThan(level)
  if (range.seriesIds.length === 0 || start >= end) return []
  if (finer === undefined) return fineRows(opened, kind, range)
  const madeUntil = rolledUntil(opened, level) ?? 0
  return [
    ...coarseRows(opened, kind, { ...range, end: Math.min(end, madeUntil) }),
    ...rowsOf(opened, kind, { ...range, level: finer, start: Math.max(start, madeUntil) }),
  ]
}

export function rolledUntil({ db }: Opened, { stepSeconds }: Level): number | undefined {
  return db.query<{ until: number }, [number]>('SELECT until FROM rolled WHERE step = ?').get(stepSeconds)?.until
}

/** For more than these, reading whole windows is quicker than looking up each series in each. */
const MAX_LOOKED_UP = 20

function fineRows<S>({ db }: Opened, { table, columns }: Kind<S>, { seriesIds, start, end }: Range): SampleRow[] {
  const wanted = `series, at, ${columns.join(', ')}`
  if (seriesIds.length > MAX_LOOKED_UP) {
    const sql = `SELECT ${wanted} FROM ${table}_fine WHERE at >= ? AND at < ? AND series IN (SELECT value FROM json_each(?)) ORDER BY at`
    return db.query<SampleRow, [number, number, string]>(sql).all(start, end, JSON.stringify(seriesIds))
  }
  const step = fineLevel.stepSeconds
  const held = db
    .query<{ oldest: number | null; newest: number | null }, []>(
      `SELECT (SELECT min(at) FROM ${table}_fine) AS oldest, (SELECT max(at) FROM ${table}_fine) AS newest`,
    )
    .get()
  const last = Math.min(end - 1, held?.newest ?? 0)
  const times: number[] = []
  for (let at = ceilTo(Math.max(start, held?.oldest ?? end), step); at <= last; at += step) times.push(at)
  const sql = `SELECT ${wanted} FROM json_each(?) AS windows CROSS JOIN ${table}_fine ON at = windows.value AND series = ? ORDER BY windows.key`
  const select = db.query<SampleRow, [string, number]>(sql)
  const windows = JSON.stringify(times)
  return seriesIds.flatMap((id) => select.all(windows, id))
}

function coarseRows<S>({ db }: Opened, { table, columns }: Kind<S>, { seriesIds, level, start, end }: Range): SampleRow[] {
  if (level === fineLevel || start >= end) return []
  const sql = `SELECT series, at, ${columns.join(', ')} FROM ${table}
    WHERE step = ? AND series = ? AND at >= ? AND at < ? ORDER BY at`
  const select = db.query<SampleRow, [number, number, number, number]>(sql)
  return seriesIds.flatMap((id) => select.all(level.stepSeconds, id, start, end))
}
