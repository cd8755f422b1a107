import type { Database } from 'bun:sqlite'

/** What waits for the end of the change that is being made, by database. */
const waiting = new WeakMap<Database, (() => void)[]>()

/**
 * Makes one change: all that `work` writes, in one transaction, with what it asks for `afterChange` following once it is in the
 * database. Nothing of it happens when `work` throws. Transactions that `work` opens itself become part of this one.
 */
export function inOneChange<T>(db: Database, work: () => T): T {
  // Within another change its end is the end.
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

/** Does something outside of the database that belongs to a change: when the change is made, or at once where none is under way. */
export function afterChange(db: Database, effect: () => void): void {
  const effects = waiting.get(db)
  if (effects === undefined) effect()
  else effects.push(effect)
}
