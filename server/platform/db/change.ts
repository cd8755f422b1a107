import type { Database } from 'bun:sqlite'

const waiting = new WeakMap<Database, (() => void)[]>()

/** Makes one change: what `work` writes in one transaction, then what it asks for `afterChange`. A change within another is part of it. */
export function inOneChange<T>(db: Database, work: () => T): T {
  if (waiting.has(db)) return db.transaction(work)()
  const effects: (() => void)[] = []
  waiting.set(db, effects)
  let result: T
  try {
    result = db.transaction(work).immediate()
  } finally {
    waiting.delete(db)
  }
  for (const effect of effects) effect()
  return result
}

/** Does something outside of the database when the change under way is made, or at once where none is. */
export function afterChange(db: Database, effect: () => void): void {
  const effects = waiting.get(db)
  if (effects === undefined) effect()
  else effects.push(effect)
}
