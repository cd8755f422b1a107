import { AppError } from '../../../shared/error.ts'
import { type JobCreate, maxOpenJobs } from '../../../shared/job.ts'
import { plans } from '../../../shared/plan.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import { withinQuotas } from '../../identity/quotas/enforce.ts'
import { newId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import { refuseLargePlan } from '../services/plan-fit.ts'
import type { StoredService } from '../services/store.ts'
import { insertJob, jobById, type NewJob, openJobs, type StoredJob } from '../workloads/job-store.ts'
import { requestStop } from './stop.ts'

export function createJob(
  context: AppContext,
  service: StoredService,
  { startCommand, planId, by }: JobCreate & { by: string },
): StoredJob {
  return enqueue(context, service, oneOff(context, service, { startCommand, planId, by }))
}

export function oneOff(
  { machine }: Pick<AppContext, 'machine'>,
  service: StoredService,
  { startCommand, planId, by }: { startCommand: string; planId?: JobCreate['planId']; by: string },
): AskedJob {
  if (!traitsOf(service.type).runsProgram) throw new AppError('conflict', 'A static site has nothing to run a job in: it is files only.')
  if (planId) refuseLargePlan(machine, { name: planId, label: 'plan', sizes: plans, path: '/planId' })
  return { kind: 'one_off', startCommand, plan: planId || null, triggeredBy: by }
}

export type AskedJob = Pick<NewJob, 'kind' | 'startCommand' | 'plan' | 'triggeredBy'>

export function enqueue(context: AppContext, service: StoredService, asked: AskedJob): StoredJob {
  const job = addJob(context, service, asked)
  context.work.poke('jobs', service.id)
  return job
}

export function addJob(context: AppContext, service: StoredService, asked: AskedJob): StoredJob {
  if (service.suspendedAt !== null) throw new AppError('conflict', 'The service is suspended. Resume it first.')
  if (service.liveDeployId === null) throw new AppError('conflict', 'Nothing of this service is live yet. Deploy it first.')
  if (openJobs(context.db, service.id).length >= maxOpenJobs)
    throw new AppError('conflict', `${maxOpenJobs} jobs of this service wait or run already. Wait for some, or cancel some.`)
  const now = context.now()
  const id = newId('job', now)
  withinQuotas(context, service.workspaceId, () =>
    insertJob(context.db, { ...asked, id, serviceId: service.id, dueAt: null, createdAt: now }),
  )
  return requireJob(context, service, { id, kind: asked.kind })
}

export function cancelJob(context: AppContext, service: StoredService, { id, by }: { id: string; by: string }): StoredJob {
  const job = requireJob(context, service, { id, kind: 'one_off' })
  if (job.finishedAt !== null) throw new AppError('conflict', `Job ${id} is over already (${job.phase}).`)
  requestStop(context, { job, service }, { as: 'canceled', reason: 'Canceled on request.', by })
  context.work.poke('jobs', service.id)
  return requireJob(context, service, job)
}

export function requireJob(
  { db }: Pick<AppContext, 'db'>,
  service: Pick<StoredService, 'id'>,
  { id, kind }: Pick<StoredJob, 'id' | 'kind'>,
): StoredJob {
  const job = jobById(db, id)
  if (job !== undefined && job.serviceId === service.id && job.kind === kind) return job
  throw new AppError('not_found', `There is no job ${id} of this service. GET /v1/services/{id}/jobs lists those there are.`)
}
