import type { KeyValue, KeyValueConnectionInfo } from '../../../shared/key-value.ts'
import { backupProblemOf } from '../backups/health/problem.ts'
import type { AppContext } from '../context.ts'
import { externalAddressOf } from '../datastores/addresses.ts'
import { type Deps, presentCommon } from '../datastores/present.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { currentPassword } from './passwords.ts'
import { connectionStrings } from './server/connection-strings.ts'
import { requireRow } from './store.ts'

/** A key-value store as callers see it. @throws Error for a row without its other half. */
export function presentKeyValue(deps: Deps & Pick<AppContext, 'now'>, datastore: StoredDatastore): KeyValue {
  const { maxmemoryPolicy, persistenceMode } = requireRow(deps.db, datastore.id)
  return {
    ...presentCommon(deps, datastore),
    ...backupProblemOf(deps, datastore, { isExpected: persistenceMode !== 'off' }),
    options: { maxmemoryPolicy, persistenceMode },
  }
}

export const presentConnection = (context: AppContext, datastore: StoredDatastore): KeyValueConnectionInfo =>
  connectionStrings({ id: datastore.id, password: currentPassword(context, datastore.id) }, externalAddressOf(context, datastore))
