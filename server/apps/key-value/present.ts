import type { KeyValue } from '../../../shared/key-value.ts'
import { type Deps, presentCommon } from '../datastores/present.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { keyValueById } from './store.ts'

/** A key-value store as callers see it. @throws Error for a row without its other half. */
export function presentKeyValue(deps: Deps, datastore: StoredDatastore): KeyValue {
  const own = keyValueById(deps.db, datastore.id)
  if (own === undefined) throw new Error(`The key-value store ${datastore.id} has half of its row`)
  const { maxmemoryPolicy, persistenceMode } = own
  return { ...presentCommon(deps, datastore), options: { maxmemoryPolicy, persistenceMode } }
}
