import type { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import type { KnownSet, SetOwner } from '../../engines/port/sets.ts'
import { flag } from '../../platform/db/codec.ts'
import { json } from '../../platform/db/json-column.ts'
import { tableOf } from '../../platform/db/table.ts'

export interface StoredSet extends KnownSet {
  node: string
  createdAt: number
}

const sets = tableOf<StoredSet>('sets', {
  id: 'id',
  ownerKind: 'owner_kind',
  ownerId: 'owner_id',
  purpose: 'purpose',
  node: 'node',
  spec: { column: 'spec', as: json({ schema: Type.Record(Type.String(), Type.Unknown()) }) },
  replicas: 'replicas',
  isFrozen: { column: 'is_frozen', as: flag },
  isDropped: { column: 'is_dropped', as: flag },
  createdAt: 'created_at',
})

/** A set by id, or undefined when it is gone. */
export const setById = (db: Database, id: string): StoredSet | undefined => sets.get(db, 'WHERE id = $id', { id })

/** All sets, oldest first. */
export const allSets = (db: Database): StoredSet[] => sets.all(db, 'ORDER BY created_at, id')

/** Sets of an owner, oldest first, those that are being dropped included. */
export const setsOf = (db: Database, { ownerKind, ownerId }: SetOwner): StoredSet[] =>
  sets.all(db, 'WHERE owner_id = $ownerId AND owner_kind = $ownerKind ORDER BY created_at, id', { ownerKind, ownerId })

/** Writes down a set that is not known. */
export function insertSet(db: Database, set: Omit<StoredSet, 'node' | 'isFrozen' | 'isDropped'>): void {
  sets.insert(db, set)
}

/** Changes what is named and nothing else; nothing when it is gone. */
export function updateSet(db: Database, id: string, change: Partial<Pick<StoredSet, 'replicas' | 'isFrozen' | 'isDropped'>>): void {
  sets.update(db, { id }, change)
}

/** Forgets a set of which nothing is left. */
export function deleteSet(db: Database, id: string): void {
  sets.remove(db, { id })
}

/** Forgets all sets of an owner that is gone, after their replicas. */
export function deleteSetsOf(db: Database, { ownerKind, ownerId }: SetOwner): void {
  sets.remove(db, { ownerKind, ownerId })
}
