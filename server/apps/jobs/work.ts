import { describeError } from '../../platform/server-log.ts'
import { createDriver } from '../../platform/work/driver.ts'
import type { AppContext } from '../context.ts'
import { jobById, servicesWithJobs } from '../workloads/job-store.ts'
import { createJobStops } from './background.ts'
import { reconcileJobs } from './reconcile.ts'

/** The reconciler of jobs and schedules with its driver, by service. */
export interface JobWork {
  poke(serviceId: string): void
  /** Looks at every service that has something to run, now or some time. */
  pokeAll(): void
  /** Looks at the service of a job whose processes have ended. Returns false for what is no job. */
  ended(workloadId: string): boolean
  /** Returns when nothing is under way any more, after `context.stopping` has aborted. */
  settled(): Promise<void>
}

export function createJobWork(context: AppContext): JobWork {
  const stops = createJobStops(context, context.stopping)
  const driver = createDriver({
    run: (serviceId) => reconcileJobs(context, stops, serviceId),
    onError: (serviceId, error) => context.log.error('jobs not reconciled', { serviceId, ...describeError(error) }),
    now: context.now,
    signal: context.stopping,
  })
  return {
    poke: driver.poke,
    pokeAll() {
      for (const serviceId of servicesWithJobs(context.db)) driver.poke(serviceId)
    },
    ended(workloadId) {
      const job = jobById(context.db, workloadId)
      if (job !== undefined) driver.poke(job.serviceId)
      return job !== undefined
    },
    settled: async () => void (await Promise.all([driver.settled(), stops.settled()])),
  }
}
