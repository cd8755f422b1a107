import { maxJobHours, maxRunningJobs } from '../../../shared/job.ts'
import type { StoredJob } from '../workloads/job-store.ts'

const HOUR_MS = 3_600_000

/** Counted from its start. A run of a cron job that is not over by then likely never will be, and keeps the later ones from running. */
export const jobTimeoutMs: Record<StoredJob['kind'], number> = { one_off: maxJobHours * HOUR_MS, cron: (maxJobHours / 2) * HOUR_MS }

export interface JobSituation {
  now: number
  isSuspended: boolean
  isDeleted: boolean
  disk: 'ready' | 'making' | 'changing'
  maxRunningRuns: number
  jobs: readonly StoredJob[]
}

export type JobAction =
  | { kind: 'start'; jobId: string }
  | { kind: 'end'; jobId: string; reason: string }
  | { kind: 'stop'; jobId: string; as: 'canceled' | 'failed'; reason: string }

export function planJobs(situation: JobSituation): JobAction[] {
  const [waiting, begun] = [situation.jobs.filter(isWaiting), situation.jobs.filter((job) => !isWaiting(job))]
  const absence = absenceOf(situation)
  if (absence !== undefined)
    return [...waiting.map((job) => end(job, absence)), ...begun.filter(isUnstopped).map((job) => stop(job, absence))]
  if (situation.disk === 'changing') return begun.filter(isUnstopped).map((job) => stop(job, 'The disk of the service is being changed.'))
  const dropped = waiting.filter((job) => job.stopAs !== null)
  const late = begun.filter((job) => isUnstopped(job) && deadlineOf(job) <= situation.now)
  return [
    ...dropped.map((job) => end(job, job.reason ?? 'Canceled on request.')),
    ...late.map((job): JobAction => ({ kind: 'stop', jobId: job.id, as: 'failed', reason: latenessOf(job) })),
    ...starts(situation, { waiting: waiting.filter((job) => job.stopAs === null), begun }),
  ]
}

export function nextDeadline(jobs: readonly StoredJob[]): number | undefined {
  const deadlines = jobs.filter((job) => !isWaiting(job) && isUnstopped(job)).map(deadlineOf)
  return deadlines.length === 0 ? undefined : Math.min(...deadlines)
}

function absenceOf({ isDeleted, isSuspended }: JobSituation): string | undefined {
  if (isDeleted) return 'The service was deleted.'
  return isSuspended ? 'The service was suspended.' : undefined
}

function starts(situation: JobSituation, { waiting, begun }: { waiting: readonly StoredJob[]; begun: readonly StoredJob[] }): JobAction[] {
  if (situation.disk !== 'ready') return []
  const places = { one_off: maxRunningJobs, cron: situation.maxRunningRuns }
  for (const { kind } of begun) places[kind] -= 1
  return waiting.flatMap(({ id, kind }): JobAction[] => {
    if (places[kind] <= 0) return []
    places[kind] -= 1
    return [{ kind: 'start', jobId: id }]
  })
}

const isWaiting = ({ phase }: StoredJob): boolean => phase === 'pending'
const isUnstopped = ({ stopAs }: StoredJob): boolean => stopAs === null
const deadlineOf = ({ startedAt, createdAt, kind }: StoredJob): number => (startedAt ?? createdAt) + jobTimeoutMs[kind]
const latenessOf = ({ kind }: StoredJob): string => `It took longer than ${jobTimeoutMs[kind] / HOUR_MS} h.`

const end = (job: StoredJob, reason: string): JobAction => ({ kind: 'end', jobId: job.id, reason })
const stop = (job: StoredJob, reason: string): JobAction => ({ kind: 'stop', jobId: job.id, as: 'canceled', reason })
