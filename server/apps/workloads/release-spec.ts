import type { StoredWorkload } from '../../runtime/workloads/store.ts'

export interface ReleaseSpec {
  deployId: string
  releaseId: string
}

/** @throws Error when the workload is none of a service's. */
export function releaseSpecOf({ id, spec: { deployId, releaseId } }: Pick<StoredWorkload, 'id' | 'spec'>): ReleaseSpec {
  if (typeof deployId !== 'string' || typeof releaseId !== 'string') throw new Error(`Workload ${id} says no release`)
  return { deployId, releaseId }
}
