import { describeError } from '../../platform/server-log.ts'
import { createDriver } from '../../platform/work/driver.ts'
import type { AppContext } from '../context.ts'
import { servicesWithJobs } from '../workloads/job-store.ts'
import { reconcileJobs } from './reconcile.ts'

export interface JobWork {
  poke(serviceId: string): void
  pokeAll(): void
  settled(): Promise<void>
}

export function createJobWork(context: AppContext): JobWork {
  const driver = createDriver({
    run: async (serviceId) => reconcileJobs(context, serviceId),
    onError: (serviceId, error) => context.log.error('jobs not reconciled', { serviceId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return {
    poke: driver.poke,
    pokeAll() {
      for (const serviceId of servicesWithJobs(context.db)) driver.poke(serviceId)
    },
    settled: driver.settled,
  }
}
