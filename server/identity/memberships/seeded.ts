import type { Database } from 'bun:sqlite'

/** The workspace and administrator that every installation begins with. */
export interface Seeded {
  workspaceId: string
  userId: string
}

/** What was seeded; undefined before the first start. */
export function readSeeded(db: Database): Seeded | undefined {
  const row = db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'seeded'").get()
  // Our own text, written by seedFirstStart.
  return row === null ? undefined : (JSON.parse(row.value) as Seeded)
}
