import type { Database } from 'bun:sqlite'
import { type Static, Type } from '@sinclair/typebox'
import { json } from '../../platform/db/json-column.ts'

const Seeded = Type.Object({ workspaceId: Type.String(), userId: Type.String() })
export type Seeded = Static<typeof Seeded>

const seeded = json({ schema: Seeded })

/** The workspace and administrator of the first start; undefined before. */
export function readSeeded(db: Database): Seeded | undefined {
  const row = db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'seeded'").get()
  return row === null ? undefined : seeded.read(row.value)
}
