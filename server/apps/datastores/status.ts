import type { DatastoreStatus } from '../../../shared/datastore.ts'
import type { StoredWorkload } from '../../runtime/workloads/store.ts'
import type { StoredDatastore } from './store.ts'

type Known = Pick<StoredDatastore, 'phase' | 'suspendedBy'>

/** What callers are told of it, out of what was asked for and what runs of it. */
export function statusOf({ phase, suspendedBy }: Known, workloads: readonly Pick<StoredWorkload, 'phase' | 'restarts'>[]): DatastoreStatus {
  switch (phase) {
    case 'creating':
      return 'creating'
    case 'recovering':
      return 'recovery_in_progress'
    case 'recovery_failed':
      return 'recovery_failed'
    case 'deleting':
      return 'unavailable'
    case 'ready':
      return suspendedBy === null ? statusOfRunning(workloads) : 'suspended'
    default:
      return phase satisfies never
  }
}

function statusOfRunning(workloads: readonly Pick<StoredWorkload, 'phase' | 'restarts'>[]): DatastoreStatus {
  if (workloads.some(({ phase }) => phase === 'running')) return 'available'
  return workloads.some(({ restarts }) => restarts > 0) ? 'unavailable' : 'config_restart'
}
