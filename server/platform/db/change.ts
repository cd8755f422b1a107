import type { Database } from 'bun:sqlite'

const waiting = new WeakMap<Database, (() => void)[]>()

/**
 * Makes one change: what `work` writes in one transaction, then what it asks for `afterChange`. A change within another is part of it; where it
 * throws, nothing is left of what it wrote and asked for, though the other may go on.
 */
export function inOneChange<T>(db: Database, work: () => T): T {
  const outer = waiting.get(db)
  if (outer !== undefined) return within(db, outer, work)
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

function within<T>(db: Database, effects: (() => void)[], work: () => T): T {
  const before = effects.length
  try {
    return db.transaction(work)()
  } catch (error) {
    effects.length = before
    throw error
  }
}

/** Does something outside of the database when the change under way is made, or at once where none is. */
export function afterChange(db: Database, effect: () => void): void {
  const effects = waiting.get(db)
  if (effects === undefined) effect()
  else effects.push(effect)
}
