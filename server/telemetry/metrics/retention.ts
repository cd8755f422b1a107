import { releasePages } from '../../platform/db/free-pages.ts'
import type { MetricsDatabase, Opened } from './database.ts'
import { fineLevel, type Level, levels } from './levels.ts'
import type { Pause } from './pause.ts'
import { rolledUntil } from './read.ts'
import { oldestFine } from './roll-up.ts'

const FINE_SECONDS_PER_STEP = 60
const SERIES_PER_STEP = 50
/** An instance without samples is forgotten only when it cannot have just begun. */
const YOUNG_SECONDS = 2 * 60 * 60
const TABLES = ['usage', 'traffic', 'datastores'] as const

/** Deletes fine samples that are older than they are kept, once they are in the next level. */
export async function pruneFine(database: MetricsDatabase, now: number, pause: Pause): Promise<void> {
  await repeat(() => database.use((opened) => pruneOldest(opened, now)), pause)
}

export async function pruneCoarse(database: MetricsDatabase, now: number, pause: Pause): Promise<void> {
  for (const level of levels) if (level !== fineLevel) await pruneLevel(database, { level, before: now - level.keptSeconds }, pause)
  await repeat(() => database.use((opened) => forgetSeries(opened, now)), pause)
  await repeat(() => database.use(({ db }) => releasePages(db)), pause)
}

export async function removeSamples(database: MetricsDatabase, service: string, pause: Pause): Promise<void> {
  await repeat(() => database.use((opened) => removeSome(opened, service)), pause)
  database.use(({ db }) => {
    db.query("DELETE FROM tallies WHERE entry = $service OR (entry >= $service || '-' AND entry < $service || '.')").run({ service })
  })
  await repeat(() => database.use(({ db }) => releasePages(db)), pause)
}

export const sampledServices = ({ db }: Opened): string[] =>
  db
    .query<{ service: string }, []>('SELECT DISTINCT service FROM series')
    .all()
    .map(({ service }) => service)

async function repeat(step: () => number, pause: Pause): Promise<void> {
  while (step() > 0) await pause()
}

function pruneOldest(opened: Opened, now: number): number {
  const oldest = oldestFine(opened)
  const [, next] = levels
  const safe = next === undefined ? undefined : rolledUntil(opened, next)
  if (oldest === undefined || safe === undefined) return 0
  const before = Math.min(now - fineLevel.keptSeconds, safe, oldest + FINE_SECONDS_PER_STEP)
  return TABLES.reduce((sum, table) => sum + opened.db.query(`DELETE FROM ${table}_fine WHERE at < ?`).run(before).changes, 0)
}

async function pruneLevel(database: MetricsDatabase, { level, before }: { level: Level; before: number }, pause: Pause): Promise<void> {
  const next = levels[levels.indexOf(level) + 1]
  const safe = next === undefined ? before : (database.use((opened) => rolledUntil(opened, next)) ?? 0)
  const cut = Math.min(before, safe)
  for (let first: number | undefined = 0; first !== undefined; await pause()) {
    const from: number = first
    first = database.use(({ db }) => {
      const ids = db
        .query<{ id: number }, [number, number]>('SELECT id FROM series WHERE id >= ? ORDER BY id LIMIT ?')
        .all(from, SERIES_PER_STEP)
        .map(({ id }) => id)
      db.transaction(() => {
        for (const table of TABLES) {
          const remove = db.query(`DELETE FROM ${table} WHERE step = ? AND series = ? AND at < ?`)
          for (const id of ids) remove.run(level.stepSeconds, id, cut)
        }
      }).immediate()
      return ids.length < SERIES_PER_STEP ? undefined : (ids.at(-1) ?? 0) + 1
    })
  }
}

function forgetSeries({ db, seriesIds }: Opened, now: number): number {
  const isKept = 'SELECT 1 FROM usage WHERE step = ? AND series = id'
  const steps = levels.filter((level) => level !== fineLevel && !level.isByServiceOnly).map(({ stepSeconds }) => stepSeconds)
  const kept = steps.map(() => `EXISTS (${isKept})`).join(' OR ')
  const sql = `DELETE FROM series WHERE id IN (SELECT id FROM series WHERE instance <> '' AND created_at < ? AND NOT (${kept}) LIMIT 500)`
  const { changes } = db.query(sql).run(now - YOUNG_SECONDS, ...steps)
  if (changes > 0) seriesIds.clear()
  return changes
}

function removeSome({ db, seriesIds }: Opened, service: string): number {
  const ids = db
    .query<{ id: number }, [string, number]>('SELECT id FROM series WHERE service = ? LIMIT ?')
    .all(service, SERIES_PER_STEP)
    .map(({ id }) => id)
  if (ids.length === 0) return 0
  const list = JSON.stringify(ids)
  db.transaction(() => {
    for (const table of TABLES) {
      db.query(`DELETE FROM ${table}_fine WHERE series IN (SELECT value FROM json_each(?))`).run(list)
      const remove = db.query(`DELETE FROM ${table} WHERE step = ? AND series = ?`)
      for (const { stepSeconds } of levels) for (const id of ids) remove.run(stepSeconds, id)
    }
    db.query('DELETE FROM series WHERE id IN (SELECT value FROM json_each(?))').run(list)
  }).immediate()
  seriesIds.clear()
  return ids.length
}
