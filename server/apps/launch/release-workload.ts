import type { WorkloadOwner } from '../../runtime/workloads/owner.ts'
import type { StoredWorkload } from '../../runtime/workloads/store.ts'
import type { LoggedOutput } from '../../telemetry/logs/outputs.ts'
import type { AppContext } from '../context.ts'
import { pruneIfUnused } from '../deploys/prune.ts'
import { releaseById } from '../deploys/release-store.ts'
import { defaultSettings } from '../services/settings.ts'
import { appOutputOf } from '../workloads/output.ts'
import { releaseSpecOf } from '../workloads/release-spec.ts'

type ReleaseOwner = Pick<WorkloadOwner, 'follow' | 'closeOutput' | 'graceMs' | 'onRemoved'>

export const releaseOwner = (context: AppContext): ReleaseOwner => ({
  follow(workload) {
    context.outputLogs.follow(outputOf(workload))
  },
  closeOutput: (workload) => context.outputLogs.close(outputOf(workload)),
  graceMs(workload) {
    const release = releaseById(context.db, releaseSpecOf(workload).releaseId)
    return (release?.settings ?? defaultSettings).maxShutdownDelaySeconds * 1000
  },
  onRemoved: (workload) => pruneIfUnused(context, workload.ownerId, releaseSpecOf(workload).releaseId),
})

const outputOf = (workload: StoredWorkload): LoggedOutput =>
  appOutputOf({ id: workload.id, serviceId: workload.ownerId, deployId: releaseSpecOf(workload).deployId })
