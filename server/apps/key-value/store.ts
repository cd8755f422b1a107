import type { Database } from 'bun:sqlite'
import type { MaxmemoryPolicy, PersistenceMode } from '../../../shared/key-value.ts'
import { flag } from '../../platform/db/codec.ts'
import { tableOf } from '../../platform/db/table.ts'

/** What a key-value store has beyond what all datastores have. Times are milliseconds since 1970. */
export interface StoredKeyValue {
  id: string
  maxmemoryPolicy: MaxmemoryPolicy
  persistenceMode: PersistenceMode
  persistenceSetAt: number
  /** How the files on its volume are to be read, which follows the mode once the server has written them so. */
  laid: PersistenceMode
  adminPasswordSealed: string
  formerPasswordSealed: string | null
  formerCreatedAt: number | null
  formerValidUntil: number | null
  /** Whether connections made with a password that is good no more are still to be ended. */
  isCutting: boolean
}

const stores = tableOf<StoredKeyValue>('key_value_stores', {
  id: 'id',
  maxmemoryPolicy: 'maxmemory_policy',
  persistenceMode: 'persistence_mode',
  persistenceSetAt: 'persistence_set_at',
  laid: 'persistence_laid',
  adminPasswordSealed: 'admin_password_sealed',
  formerPasswordSealed: 'former_password_sealed',
  formerCreatedAt: 'former_created_at',
  formerValidUntil: 'former_valid_until',
  isCutting: { column: 'is_cutting', as: flag },
})

export type NewKeyValue = Pick<
  StoredKeyValue,
  'id' | 'maxmemoryPolicy' | 'persistenceMode' | 'persistenceSetAt' | 'laid' | 'adminPasswordSealed'
>

/** Adds what is of a key-value store alone, after its row among the datastores. */
export function insertKeyValue(db: Database, store: NewKeyValue): void {
  stores.insert(db, store)
}

/** What is of a key-value store alone, by its id; undefined where there is none. */
export const keyValueById = (db: Database, id: string): StoredKeyValue | undefined => stores.get(db, 'WHERE id = $id', { id })

/** What is of a key-value store alone. @throws Error where there is none, which no caller of people's can bring about. */
export function requireRow(db: Database, id: string): StoredKeyValue {
  const own = keyValueById(db, id)
  if (own === undefined) throw new Error(`The key-value store ${id} has half of its row`)
  return own
}

/** Changes what is named and nothing else. */
export function updateKeyValue(db: Database, id: string, change: Partial<Omit<StoredKeyValue, 'id'>>): void {
  stores.update(db, { id }, change)
}
