/**
 * Brings the jobs of one service to what is wanted of them: those that are due start, those that have ended are concluded, those that
 * are to stop are stopped. Takes no input but the service's id, may be stopped anywhere and called again at any time; the driver sees
 * to it that only one runs for a service.
 *
 * A job is a set of one replica, kept like any other, so it outlives the control plane, and the next one finds it running or ended. It
 * runs at most once: `starting` is written down first, and the engine has a record before it begins.
 */

import { maxRunningJobs } from '../../../shared/job.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import type { AppContext } from '../context.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { jobById, openJobs } from '../workloads/job-store.ts'
import { endJob } from './finish.ts'
import { observeJobs } from './observe.ts'
import { type JobAction, type JobSituation, nextDeadline, planJobs } from './plan.ts'
import { scheduleRuns } from './scheduled.ts'
import { diskStateOf } from './situation.ts'
import { startJob } from './start.ts'
import { requestStop } from './stop.ts'

const MAX_ROUNDS = 50
const STUCK_RETRY_MS = 5000

export function reconcileJobs(context: AppContext, serviceId: string): number | undefined {
  const hadJobs = openJobs(context.db, serviceId).length > 0
  for (let round = 0; round < MAX_ROUNDS; round++) {
    observeJobs(context, serviceId)
    const service = serviceById(context.db, serviceId)
    if (service === undefined) return undefined
    const dueAt = traitsOf(service.type).isScheduled ? scheduleRuns(context, service) : undefined
    const situation = situationOf(context, service)
    const actions = planJobs(situation)
    if (actions.length === 0) {
      if (service.deletedAt !== null && hadJobs && situation.jobs.length === 0) context.work.poke('service', serviceId)
      return earliest([dueAt, nextDeadline(situation.jobs)])
    }
    for (const action of actions) act(context, service, action)
  }
  context.log.error('jobs do not settle', { serviceId })
  return context.now() + STUCK_RETRY_MS
}

function situationOf(context: AppContext, service: StoredService): JobSituation {
  return {
    now: context.now(),
    isSuspended: service.suspendedAt !== null,
    isDeleted: service.deletedAt !== null,
    disk: diskStateOf(context, service),
    maxRunningRuns: service.controls.cron.overlapPolicy === 'allow' ? maxRunningJobs : 1,
    jobs: openJobs(context.db, service.id),
  }
}

function act(context: AppContext, service: StoredService, action: JobAction): void {
  const job = jobById(context.db, action.jobId)
  if (job === undefined) return
  if (action.kind === 'start') startJob(context, service, job.id)
  else if (action.kind === 'stop') requestStop(context, { job, service }, { as: action.as, reason: action.reason })
  else endJob(context, { job, service }, { phase: job.stopAs ?? 'canceled', exitCode: null, reason: action.reason })
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
