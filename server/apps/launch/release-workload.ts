import { servicePathsOf } from '../../platform/paths.ts'
import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { StoredWorkload } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { pruneIfUnused } from '../deploys/prune.ts'
import { releaseById } from '../deploys/release-store.ts'
import { defaultSettings } from '../services/settings.ts'
import { releaseSpecOf } from '../workloads/release-spec.ts'
import { outputPathOf } from './launch.ts'

type ReleaseOwner = Pick<WorkloadOwner, 'follow' | 'closeOutput' | 'graceMs' | 'onRemoved'>

/** What owners have in common whose workloads run in a release of a service. */
export const releaseOwner = (context: AppContext): ReleaseOwner => ({
  follow(workload) {
    const { deployId } = releaseSpecOf(workload)
    const path = pathOf(context, workload)
    context.collector.follow({ path, resource: workload.ownerId, instance: workload.id, deployId, type: 'app' })
  },
  closeOutput: (workload) => context.collector.remove(pathOf(context, workload)),
  graceMs(workload) {
    const release = releaseById(context.db, releaseSpecOf(workload).releaseId)
    return (release?.settings ?? defaultSettings).maxShutdownDelaySeconds * 1000
  },
  onRemoved: (workload) => pruneIfUnused(context, workload.ownerId, releaseSpecOf(workload).releaseId),
})

const pathOf = ({ paths }: AppContext, { id, ownerId }: StoredWorkload): string => outputPathOf(servicePathsOf(paths, ownerId), id)
