import { isId } from '../../../shared/id.ts'
import { connectionTo } from '../connections/connection.ts'
import type { AppContext } from '../context.ts'
import { findDatastore } from '../datastores/store.ts'
import { networkOf } from '../private-network/names/network.ts'
import type { DatastoreReference } from '../services/env-store.ts'
import type { StoredService } from '../services/store.ts'
import type { Interpolated } from './interpolate.ts'

/** What a reference comes to, or what is wrong with it, to be read after the name of the variable. */
export type LookUp = (reference: DatastoreReference) => Interpolated

export const nounOf = (datastoreId: string): string => (isId('keyValue', datastoreId) ? 'key-value store' : 'database')

export function lookUpFor(
  context: Pick<AppContext, 'db' | 'sealer'>,
  service: Pick<StoredService, 'workspaceId' | 'environmentId'> & Partial<Pick<StoredService, 'id' | 'foreignCommit'>>,
): LookUp {
  const { db } = context
  const network = networkOf(db, service)
  return ({ datastoreId, property }) => {
    const datastore = findDatastore(db, service.workspaceId, datastoreId)
    if (datastore === undefined) return { problem: `refers to the ${nounOf(datastoreId)} ${datastoreId}, which is gone` }
    const told = `refers to the ${nounOf(datastoreId)} ${datastore.name}`
    if (networkOf(db, datastore) !== network) return { problem: `${told}, which cannot be reached from its environment` }
    const value = connectionTo(context, datastore)[property]
    return value === undefined ? { problem: `${told}, which has no ${property}` } : { value }
  }
}
