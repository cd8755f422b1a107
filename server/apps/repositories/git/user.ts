import type { Database } from 'bun:sqlite'
import { nextUid } from '../../services/user-ids.ts'

export function gitUid(db: Database): number {
  return db.transaction(() => {
    const row = db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'git_uid'").get()
    if (row !== null) return Number(row.value)
    const uid = nextUid(db)
    db.query("INSERT INTO meta (key, value) VALUES ('git_uid', ?)").run(String(uid))
    return uid
  })()
}
