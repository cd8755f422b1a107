import type { Database } from 'bun:sqlite'

export interface Seeded {
  workspaceId: string
  userId: string
}

/** The workspace and administrator of the first start; undefined before. */
export function readSeeded(db: Database): Seeded | undefined {
  const row = db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'seeded'").get()
  return row === null ? undefined : (JSON.parse(row.value) as Seeded)
}
