import type { DatastoreStatus } from '../../../shared/datastore.ts'
import type { StoredWorkload } from '../../runtime/workloads/store.ts'
import { setIdOf } from './plan.ts'
import type { StoredDatastore } from './store.ts'

type Known = Pick<StoredDatastore, 'id' | 'generation' | 'phase' | 'suspendedBy' | 'growToGb' | 'problem' | 'failover' | 'upgrade'>

/** What callers are told of it, out of what was asked for and what runs of it. */
export function statusOf(datastore: Known, workloads: readonly Pick<StoredWorkload, 'setId' | 'phase' | 'restarts'>[]): DatastoreStatus {
  const { phase, suspendedBy } = datastore
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
      return suspendedBy === null ? statusOfRunning(datastore, workloads) : 'suspended'
    default:
      return phase satisfies never
  }
}

function statusOfRunning(datastore: Known, workloads: readonly Pick<StoredWorkload, 'setId' | 'phase' | 'restarts'>[]): DatastoreStatus {
  const { growToGb, problem, failover, upgrade } = datastore
  if (upgrade !== null) return 'updating_instance'
  if (failover !== null) return 'config_restart'
  if (workloads.some(({ setId, phase }) => setId === setIdOf(datastore) && phase === 'running')) return 'available'
  if (problem !== null || workloads.some(({ restarts }) => restarts > 0)) return 'unavailable'
  return growToGb === null ? 'config_restart' : 'updating_instance'
}
