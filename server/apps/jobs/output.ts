import { servicePathsOf } from '../../platform/paths.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import { outputPathOf } from '../launch/launch.ts'
import type { StoredJob } from '../workloads/job-store.ts'

/** Where a job's output goes. */
export const jobOutputPath = (context: Pick<AppContext, 'paths'>, job: Pick<StoredJob, 'id' | 'serviceId'>): string =>
  outputPathOf(servicePathsOf(context.paths, job.serviceId), job.id)

/** Begins, or goes on, to collect what a job writes; its lines carry its id as their instance. */
export function followJob(context: Pick<AppContext, 'collector' | 'paths'>, { id, serviceId, deployId }: StoredJob): void {
  const path = jobOutputPath(context, { id, serviceId })
  context.collector.follow({ path, resource: serviceId, instance: id, ...(deployId !== null && { deployId }), type: 'app' })
}

/** Stores what a job has written and removes the file. A disk that is full must not keep a job from ending: the file then stays for the next start. */
export async function closeJobOutput(context: AppContext, job: StoredJob): Promise<void> {
  try {
    followJob(context, job)
    await context.collector.remove(jobOutputPath(context, job))
  } catch (error) {
    context.log.error('output of a job not stored', { jobId: job.id, ...describeError(error) })
  }
}
