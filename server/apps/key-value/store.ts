import type { Database } from 'bun:sqlite'
import type { MaxmemoryPolicy, PersistenceMode } from '../../../shared/key-value.ts'
import { tableOf } from '../../platform/db/table.ts'

/** What a key-value store has beyond what all datastores have. */
export interface StoredKeyValue {
  id: string
  maxmemoryPolicy: MaxmemoryPolicy
  persistenceMode: PersistenceMode
  adminPasswordSealed: string
}

const stores = tableOf<StoredKeyValue>('key_value_stores', {
  id: 'id',
  maxmemoryPolicy: 'maxmemory_policy',
  persistenceMode: 'persistence_mode',
  adminPasswordSealed: 'admin_password_sealed',
})

/** What is of a key-value store alone, by its id; undefined where there is none. */
export const keyValueById = (db: Database, id: string): StoredKeyValue | undefined => stores.get(db, 'WHERE id = $id', { id })
