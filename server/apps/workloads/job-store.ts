import type { Database } from 'bun:sqlite'
import type { PlanName } from '../../../shared/plan.ts'
import { typesWith } from '../../../shared/service-type.ts'
import { sqlList } from '../../platform/db/sql-list.ts'
import { tableOf } from '../../platform/db/table.ts'

export type JobKind = 'one_off' | 'cron'

/** `pending` waits for its turn, `starting` is about to be started or just was, `running` is known to have been; the others are ends. */
export type JobPhase = 'pending' | 'starting' | 'running' | 'succeeded' | 'failed' | 'canceled'
export type JobEnd = Extract<JobPhase, 'succeeded' | 'failed' | 'canceled'>

export interface StoredJob {
  id: string
  serviceId: string
  kind: JobKind
  startCommand: string | null
  plan: PlanName | null
  phase: JobPhase
  deployId: string | null
  releaseId: string | null
  dueAt: number | null
  triggeredBy: string
  stopAs: Exclude<JobEnd, 'succeeded'> | null
  canceledBy: string | null
  reason: string | null
  exitCode: number | null
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
}

const jobs = tableOf<StoredJob>('jobs', {
  id: 'id',
  serviceId: 'service_id',
  kind: 'kind',
  startCommand: 'start_command',
  plan: 'plan',
  phase: 'phase',
  deployId: 'deploy_id',
  releaseId: 'release_id',
  dueAt: 'due_at',
  triggeredBy: 'triggered_by',
  stopAs: 'stop_as',
  canceledBy: 'canceled_by',
  reason: 'reason',
  exitCode: 'exit_code',
  createdAt: 'created_at',
  startedAt: 'started_at',
  finishedAt: 'finished_at',
})

/** What jobs are among the workloads of a service. */
export const JOB = { ownerKind: 'service', purpose: 'job' } as const

export type NewJob = Pick<StoredJob, 'id' | 'serviceId' | 'kind' | 'startCommand' | 'plan' | 'dueAt' | 'triggeredBy' | 'createdAt'>

/** Writes down that a job is to run. Returns whether it was: a time of a schedule that has its run gets no second one. */
export const insertJob = (db: Database, job: NewJob): boolean => jobs.insert(db, job, 'ON CONFLICT (service_id, due_at) DO NOTHING')

/** A job by id, for the platform's own work. */
export const jobById = (db: Database, id: string): StoredJob | undefined => jobs.get(db, 'WHERE id = $id', { id })

/** Jobs of a service that have not ended, in the order in which they were asked for. */
export const openJobs = (db: Database, serviceId: string): StoredJob[] =>
  jobs.all(db, 'WHERE service_id = $serviceId AND finished_at IS NULL ORDER BY id', { serviceId })

/** Ids of the services that have something to run now or some time: jobs under way, or a schedule. */
export function servicesWithJobs(db: Database): string[] {
  return db
    .query<{ id: string }, []>(
      `SELECT service_id AS id FROM jobs WHERE finished_at IS NULL
       UNION SELECT id FROM services WHERE type IN (${sqlList(typesWith('isScheduled'))}) AND deleted_at IS NULL`,
    )
    .all()
    .map((row) => row.id)
}

export type JobChange = Partial<
  Pick<StoredJob, 'phase' | 'deployId' | 'releaseId' | 'stopAs' | 'canceledBy' | 'reason' | 'exitCode' | 'startedAt' | 'finishedAt'>
>

/** Changes what is named and nothing else; nothing when it is gone. */
export function updateJob(db: Database, id: string, change: JobChange): void {
  jobs.update(db, { id }, change)
}

export interface JobFilter {
  kind: JobKind
  phases: readonly JobPhase[] | undefined
  createdAt?: TimeRange
  startedAt?: TimeRange
  finishedAt?: TimeRange
  beforeId: string | undefined
  limit: number
}

export interface TimeRange {
  after: number | null
  before: number | null
}

/** Jobs of a service, newest first, those before `beforeId` when it is given. */
export function listJobs(db: Database, serviceId: string, filter: JobFilter): StoredJob[] {
  const within = (column: string, name: string) =>
    `($${name}After IS NULL OR ${column} > $${name}After) AND ($${name}Before IS NULL OR ${column} < $${name}Before)`
  return jobs.all(
    db,
    `WHERE service_id = $serviceId AND kind = $kind
     AND ($phases IS NULL OR phase IN (SELECT value FROM json_each($phases)))
     AND ${within('created_at', 'created')} AND ${within('started_at', 'started')} AND ${within('finished_at', 'finished')}
     AND ($beforeId IS NULL OR id < $beforeId)
     ORDER BY id DESC LIMIT $limit`,
    {
      serviceId,
      kind: filter.kind,
      phases: filter.phases === undefined ? null : JSON.stringify(filter.phases),
      createdAfter: filter.createdAt?.after ?? null,
      createdBefore: filter.createdAt?.before ?? null,
      startedAfter: filter.startedAt?.after ?? null,
      startedBefore: filter.startedAt?.before ?? null,
      finishedAfter: filter.finishedAt?.after ?? null,
      finishedBefore: filter.finishedAt?.before ?? null,
      beforeId: filter.beforeId ?? null,
      limit: filter.limit,
    },
  )
}

/** Forgets those that have ended beyond the newest `count`. Returns whether there were any. */
export function forgetOldJobs(db: Database, { serviceId, kind }: Pick<StoredJob, 'serviceId' | 'kind'>, count: number): boolean {
  const { changes } = db
    .query(
      `DELETE FROM jobs WHERE service_id = $serviceId AND kind = $kind AND finished_at IS NOT NULL AND id <=
       (SELECT id FROM jobs WHERE service_id = $serviceId AND kind = $kind ORDER BY id DESC LIMIT 1 OFFSET $count)`,
    )
    .run({ serviceId, kind, count })
  return changes > 0
}
