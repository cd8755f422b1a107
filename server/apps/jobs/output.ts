import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import type { StoredJob } from '../workloads/job-store.ts'
import { appOutputOf } from '../workloads/output.ts'

/** Stores what a job has written and removes it. A disk that is full must not keep a job from ending: the output then stays for the next start. */
export async function closeJobOutput(
  { outputLogs, log }: Pick<AppContext, 'outputLogs' | 'log'>,
  { id, serviceId, deployId }: Pick<StoredJob, 'id' | 'serviceId' | 'deployId'>,
): Promise<void> {
  try {
    await outputLogs.close(appOutputOf({ id, serviceId, deployId }))
  } catch (error) {
    log.error('output of a job not stored', { jobId: id, ...describeError(error) })
  }
}
