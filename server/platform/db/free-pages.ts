import type { Database } from 'bun:sqlite'

const PAGES_PER_STEP = 512

/** Has a database that is still empty hand back pages in steps. The mode takes effect through VACUUM, which is instant then. */
export function handBackPages(db: Database): void {
  for (const statement of ['PRAGMA auto_vacuum = INCREMENTAL', 'VACUUM']) db.run(statement)
}

export function releasePages(db: Database): number {
  const free = () => db.query<{ freelist_count: number }, []>('PRAGMA freelist_count').get()?.freelist_count ?? 0
  const before = free()
  if (before === 0) return 0
  db.run(`PRAGMA incremental_vacuum(${PAGES_PER_STEP})`)
  return before - free()
}
