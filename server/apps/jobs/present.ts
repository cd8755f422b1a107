import type { CronJobRun } from '../../../shared/cron.ts'
import type { Job, JobStatus } from '../../../shared/job.ts'
import { defaultPlan, type PlanName } from '../../../shared/plan.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import type { StoredService } from '../services/store.ts'
import type { JobPhase, StoredJob } from '../workloads/job-store.ts'
import { runStatusOf } from './finish.ts'

const iso = (time: number): string => new Date(time).toISOString()

const statusOfPhase: Record<JobPhase, JobStatus> = {
  pending: 'pending',
  starting: 'running',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
}

export const phasesOfJob = (statuses: readonly JobStatus[]): JobPhase[] =>
  (Object.keys(statusOfPhase) as JobPhase[]).filter((phase) => statuses.includes(statusOfPhase[phase]))

export function presentJob({ db }: Pick<AppContext, 'db'>, service: StoredService, job: StoredJob): Job {
  const { id, serviceId, startCommand, createdAt } = job
  return {
    id,
    serviceId,
    startCommand: startCommand ?? '',
    planId: job.plan ?? planInUse(db, service, job),
    status: statusOfPhase[job.phase],
    createdAt: iso(createdAt),
    ...endOf(job),
  }
}

export const presentRun = (job: StoredJob): CronJobRun => ({
  id: job.id,
  status: runStatusOf(job),
  createdAt: iso(job.createdAt),
  triggeredBy: job.triggeredBy,
  ...(job.canceledBy === null ? {} : { canceledBy: job.canceledBy }),
  ...(job.dueAt === null ? {} : { dueAt: iso(job.dueAt) }),
  ...endOf(job),
})

function endOf({ startedAt, finishedAt, exitCode, reason }: StoredJob): Pick<Job, 'startedAt' | 'finishedAt' | 'exitCode' | 'reason'> {
  return {
    ...(startedAt === null ? {} : { startedAt: iso(startedAt) }),
    ...(finishedAt === null ? {} : { finishedAt: iso(finishedAt) }),
    ...(exitCode === null ? {} : { exitCode }),
    ...(reason === null ? {} : { reason }),
  }
}

function planInUse(db: AppContext['db'], service: StoredService, { releaseId }: StoredJob): PlanName {
  const release = releaseId === null ? undefined : releaseById(db, releaseId)
  return release?.settings.plan ?? service.settings.plan ?? defaultPlan
}
