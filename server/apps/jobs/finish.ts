import type { CronRunStatus } from '../../../shared/cron.ts'
import type { EventType } from '../../../shared/event.ts'
import type { AppContext } from '../context.ts'
import { noteSuccess } from '../cron-jobs/store.ts'
import { forgetOldEvents, recordEvent } from '../events/store.ts'
import type { StoredService } from '../services/store.ts'
import { forgetOldJobs, type JobKind, type JobPhase, jobById, type StoredJob, updateJob } from '../workloads/job-store.ts'
import type { Outcome } from './outcome.ts'

/** Of a service and kind. With two events each, at one run a minute it is the history of most of a day. */
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

/** The status of a run in Render's words. */
export const runStatusOf = ({ phase }: Pick<StoredJob, 'phase'>): CronRunStatus => runStatus[phase]

/** The phases that are told as one of these. */
export const phasesOfRun = (statuses: readonly CronRunStatus[]): JobPhase[] =>
  (Object.keys(runStatus) as JobPhase[]).filter((phase) => statuses.includes(runStatus[phase]))

type Writer = Pick<AppContext, 'db' | 'now'>

interface OfService {
  job: StoredJob
  service: StoredService
}

/** Tells among the events of its service that a job begins. */
export function recordStart({ db, now }: Writer, { job, service }: OfService): void {
  recordEvent(db, { owner: service, type: eventsOf[job.kind].started, details: namesOf(job), now: now() })
}

/**
 * Writes a job's end down. The only place where one ends. Nothing when it has ended already.
 *
 * @param endedAt When its processes ended, where that was before now (ms since 1970).
 */
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
    // Their events go with them; there are up to three of each.
    if (hasOld) forgetOldEvents(db, { serviceId: service.id, types: eventsOf[job.kind].all, count: 3 * KEPT_JOBS })
  })()
}

const namesOf = ({ id, kind }: StoredJob): Record<string, unknown> => (kind === 'cron' ? { cronJobRunId: id } : { jobId: id })
