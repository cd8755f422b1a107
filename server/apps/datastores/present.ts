import type { DatastoreStatus } from '../../../shared/datastore.ts'
import { defaultLabels } from '../../../shared/service-labels.ts'
import { findWorkspace, presentOwner } from '../../identity/memberships/store.ts'
import { workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { statusOf } from './status.ts'
import { OWNER_KIND, type StoredDatastore } from './store.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

export type Deps = Pick<AppContext, 'db' | 'publicUrl'>

export function presentCommon({ db, publicUrl }: Deps, datastore: StoredDatastore) {
  const { id, name, workspaceId, plan, version, ipAllowList, environmentId, diskState, suspendedBy, createdAt, updatedAt } = datastore
  const { name: ownerName = '', email = '' } = findWorkspace(db, workspaceId) ?? {}
  const status: DatastoreStatus = statusOf(datastore, workloadsOf(db, OWNER_KIND, id))
  return {
    id,
    name,
    owner: presentOwner({ id: workspaceId, name: ownerName, email, createdAt: 0 }),
    plan,
    region: defaultLabels.region,
    status,
    version,
    ipAllowList,
    ...(environmentId !== null && { environmentId }),
    diskState,
    suspended: suspendedBy === null ? ('not_suspended' as const) : ('suspended' as const),
    suspenders: suspendedBy ?? [],
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
    dashboardUrl: `${publicUrl}/docs#/Datastores`,
  }
}
