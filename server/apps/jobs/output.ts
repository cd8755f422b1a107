import { servicePathsOf } from '../../platform/paths.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import { outputPathOf } from '../launch/launch.ts'
import type { StoredJob } from '../workloads/job-store.ts'

/** Stores what a job has written and removes the file. A disk that is full must not keep a job from ending: the file then stays for the next start. */
export async function closeJobOutput(
  { collector, paths, log }: Pick<AppContext, 'collector' | 'paths' | 'log'>,
  { id, serviceId, deployId }: Pick<StoredJob, 'id' | 'serviceId' | 'deployId'>,
): Promise<void> {
  const path = outputPathOf(servicePathsOf(paths, serviceId), id)
  try {
    collector.follow({ path, resource: serviceId, instance: id, ...(deployId !== null && { deployId }), type: 'app' })
    await collector.remove(path)
  } catch (error) {
    log.error('output of a job not stored', { jobId: id, ...describeError(error) })
  }
}
