import type { Opened } from './database.ts'

/** The id of the series of an instance, made at its first use; `instance` is empty for the service as a whole. */
export function seriesIdOf({ db, seriesIds }: Opened, of: { service: string; instance: string }, at: number): number {
  const key = `${of.service}/${of.instance}`
  const known = seriesIds.get(key)
  if (known !== undefined) return known
  const row = db
    .query<{ id: number }, [string, string, number]>(
      `INSERT INTO series (service, instance, created_at) VALUES (?, ?, ?)
       ON CONFLICT (service, instance) DO UPDATE SET created_at = created_at RETURNING id`,
    )
    .get(of.service, of.instance, at)
  if (row === null) throw new Error(`${key} got no series`)
  seriesIds.set(key, row.id)
  return row.id
}

export interface Series {
  id: number
  service: string
  instance: string
}

export function seriesOf({ db }: Opened, services: readonly string[], which: 'services' | 'instances'): Series[] {
  const condition = which === 'services' ? "instance = ''" : "instance <> ''"
  return db
    .query<Series, [string]>(
      `SELECT id, service, instance FROM series WHERE service IN (SELECT value FROM json_each(?)) AND ${condition} ORDER BY id`,
    )
    .all(JSON.stringify(services))
}
