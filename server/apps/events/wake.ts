import type { Database } from 'bun:sqlite'
import { afterChange } from '../../platform/db/change.ts'

type Listener = (workspaceId: string) => void

const listeners = new WeakMap<Database, Set<Listener>>()

export function onEvents(db: Database, listener: Listener): () => void {
  const ours = listeners.get(db) ?? new Set()
  listeners.set(db, ours.add(listener))
  return () => ours.delete(listener)
}

/** Tells listeners of an event, once the change that it belongs to is made. */
export function tellOfEvent(db: Database, workspaceId: string): void {
  const ours = listeners.get(db) ?? []
  afterChange(db, () => {
    for (const listen of ours) listen(workspaceId)
  })
}
