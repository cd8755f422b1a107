import type { CronRunStatus } from '../../../shared/cron.ts'
import type { EventType } from '../../../shared/event.ts'
import type { AppContext } from '../context.ts'
import { noteSuccess } from '../cron-jobs/store.ts'
import { forgetOldEvents, recordEvent } from '../events/store.ts'
import type { StoredService } from '../services/store.ts'
import { forgetOldJobs, type JobKind, type JobPhase, jobById, type StoredJob, updateJob } from '../workloads/job-store.ts'
import type { Outcome } from './outcome.ts'

/** So many are kept of each service and kind: with two events each, at one run a minute they are the history of most of a day. */
const KEPT_JOBS = 1000

const eventsOf: Record<JobKind, { started: EventType; ended: EventType; all: EventType[] }> = {
  one_off: { started: 'job_run_started', ended: 'job_run_ended', all: ['job_run_started', 'job_run_ended'] },
  cron: {
    started: 'cron_job_run_started',
    ended: 'cron_job_run_ended',
    all: ['cron_job_run_started', 'cron_job_run_ended', 'cron_job_run_skipped'],
  },
}

const runStatus: Record<JobPhase, CronRunStatus> = {
  pending: 'pending',
  starting: 'pending',
  running: 'pending',
  succeeded: 'successful',
  failed: 'unsuccessful',
  canceled: 'canceled',
}

export const runStatusOf = ({ phase }: Pick<StoredJob, 'phase'>): CronRunStatus => runStatus[phase]

export const phasesOfRun = (statuses: readonly CronRunStatus[]): JobPhase[] =>
  (Object.keys(runStatus) as JobPhase[]).filter((phase) => statuses.includes(runStatus[phase]))

type Writer = Pick<AppContext, 'db' | 'now'>

interface OfService {
  job: StoredJob
  service: StoredService
}

export function recordStart({ db, now }: Writer, { job, service }: OfService): void {
  recordEvent(db, { owner: service, type: eventsOf[job.kind].started, details: namesOf(job), now: now() })
}

export function endJob(context: Writer, { job, service }: OfService, { endedAt, ...outcome }: Outcome & { endedAt?: number }): void {
  const { db } = context
  const now = context.now()
  db.transaction(() => {
    if (jobById(db, job.id)?.finishedAt !== null) return
    const finishedAt = Math.max(job.startedAt ?? job.createdAt, Math.min(endedAt ?? now, now))
    updateJob(db, job.id, { ...outcome, finishedAt })
    if (job.kind === 'cron' && outcome.phase === 'succeeded') noteSuccess(db, service.id, finishedAt)
    const status = job.kind === 'cron' ? runStatus[outcome.phase] : outcome.phase
    const details = { ...namesOf(job), status, exitCode: outcome.exitCode, reason: outcome.reason }
    recordEvent(db, { owner: service, type: eventsOf[job.kind].ended, details, now })
    const hasOld = forgetOldJobs(db, job, KEPT_JOBS)
    if (hasOld) forgetOldEvents(db, { serviceId: service.id, types: eventsOf[job.kind].all, count: 3 * KEPT_JOBS })
  })()
}

const namesOf = ({ id, kind }: StoredJob): Record<string, unknown> => (kind === 'cron' ? { cronJobRunId: id } : { jobId: id })
