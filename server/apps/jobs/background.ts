import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import type { StoredJob } from '../workloads/job-store.ts'
import { stopJob } from './stop.ts'

/** Stops jobs beside the reconciler, as each may take its time to end. */
export interface JobStops {
  /** Nothing when it is being stopped already. */
  stop(job: StoredJob): void
  /** Returns when all of them have ended; they end early when the signal given at creation aborts. */
  settled(): Promise<void>
}

export function createJobStops(context: AppContext, signal: AbortSignal): JobStops {
  const running = new Map<string, Promise<void>>()
  return {
    stop(job) {
      if (running.has(job.id)) return
      const done = stopJob(context, job, signal)
        .catch((error) => {
          if (!signal.aborted) context.log.error('job not stopped', { jobId: job.id, ...describeError(error) })
        })
        .finally(() => {
          running.delete(job.id)
          if (!signal.aborted) context.work.poke('jobs', job.serviceId)
        })
      running.set(job.id, done)
    },
    settled: async () => void (await Promise.all(running.values())),
  }
}
