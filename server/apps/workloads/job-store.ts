import type { Database } from 'bun:sqlite'
import type { PlanName } from '../../../shared/plan.ts'
import { typesWith } from '../../../shared/service-type.ts'
import { sqlList } from '../../platform/db/sql-list.ts'

export type JobKind = 'one_off' | 'cron'

/**
 * Where a job stands. `pending` waits for its turn, `starting` is about to be started or just was, `running` is known to have been;
 * the others are ends.
 */
export type JobPhase = 'pending' | 'starting' | 'running' | 'succeeded' | 'failed' | 'canceled'
export type JobEnd = Extract<JobPhase, 'succeeded' | 'failed' | 'canceled'>

/** A one-off job or a run of a cron job as it is kept. Times are milliseconds since 1970. */
export interface StoredJob {
  id: string
  serviceId: string
  kind: JobKind
  /** Null: the start command of the release. */
  startCommand: string | null
  /** Null: the plan of the release. */
  plan: PlanName | null
  phase: JobPhase
  deployId: string | null
  releaseId: string | null
  /** The time of the schedule that a run is for. */
  dueAt: number | null
  /** `schedule`, or the id of a user or key. */
  triggeredBy: string
  /** Set while it is to be stopped: what it will end as. */
  stopAs: Exclude<JobEnd, 'succeeded'> | null
  canceledBy: string | null
  reason: string | null
  exitCode: number | null
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
}

interface JobRow {
  id: string
  service_id: string
  kind: JobKind
  start_command: string | null
  plan: PlanName | null
  phase: JobPhase
  deploy_id: string | null
  release_id: string | null
  due_at: number | null
  triggered_by: string
  stop_as: StoredJob['stopAs']
  canceled_by: string | null
  reason: string | null
  exit_code: number | null
  created_at: number
  started_at: number | null
  finished_at: number | null
}

export type NewJob = Pick<StoredJob, 'id' | 'serviceId' | 'kind' | 'startCommand' | 'plan' | 'dueAt' | 'triggeredBy' | 'createdAt'>

/** Writes down that a job is to run. Returns whether it was: a time of a schedule that has its run gets no second one. */
export function insertJob(db: Database, job: NewJob): boolean {
  const { changes } = db
    .query(
      `INSERT INTO jobs (id, service_id, kind, start_command, plan, due_at, triggered_by, created_at)
       VALUES ($id, $serviceId, $kind, $startCommand, $plan, $dueAt, $triggeredBy, $createdAt) ON CONFLICT (service_id, due_at) DO NOTHING`,
    )
    .run({ ...job })
  return changes > 0
}

/** A job by id, for the platform's own work. */
export function jobById(db: Database, id: string): StoredJob | undefined {
  const row = db.query<JobRow, [string]>('SELECT * FROM jobs WHERE id = ?').get(id)
  return row === null ? undefined : present(row)
}

/** Jobs of a service that have not ended, in the order in which they were asked for. */
export function openJobs(db: Database, serviceId: string): StoredJob[] {
  return db
    .query<JobRow, [string]>('SELECT * FROM jobs WHERE service_id = ? AND finished_at IS NULL ORDER BY id')
    .all(serviceId)
    .map(present)
}

/** All jobs that have not ended, of all services. */
export function allOpenJobs(db: Database): StoredJob[] {
  return db.query<JobRow, []>('SELECT * FROM jobs WHERE finished_at IS NULL ORDER BY id').all().map(present)
}

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
  const current = jobById(db, id)
  if (current === undefined) return
  const next = { ...current, ...change }
  db.query(
    `UPDATE jobs SET phase = $phase, deploy_id = $deployId, release_id = $releaseId, stop_as = $stopAs, canceled_by = $canceledBy,
     reason = $reason, exit_code = $exitCode, started_at = $startedAt, finished_at = $finishedAt WHERE id = $id`,
  ).run({
    id,
    phase: next.phase,
    deployId: next.deployId,
    releaseId: next.releaseId,
    stopAs: next.stopAs,
    canceledBy: next.canceledBy,
    reason: next.reason,
    exitCode: next.exitCode,
    startedAt: next.startedAt,
    finishedAt: next.finishedAt,
  })
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

/** Both ends are excluded. Milliseconds since 1970. */
export interface TimeRange {
  after: number | null
  before: number | null
}

/** Jobs of a service, newest first, those before `beforeId` when it is given. */
export function listJobs(db: Database, serviceId: string, filter: JobFilter): StoredJob[] {
  const within = (column: string, name: string) =>
    `($${name}After IS NULL OR ${column} > $${name}After) AND ($${name}Before IS NULL OR ${column} < $${name}Before)`
  return db
    .query<JobRow, Record<string, string | number | null>>(
      `SELECT * FROM jobs WHERE service_id = $serviceId AND kind = $kind
       AND ($phases IS NULL OR phase IN (SELECT value FROM json_each($phases)))
       AND ${within('created_at', 'created')} AND ${within('started_at', 'started')} AND ${within('finished_at', 'finished')}
       AND ($beforeId IS NULL OR id < $beforeId)
       ORDER BY id DESC LIMIT $limit`,
    )
    .all({
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
    })
    .map(present)
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

const present = (row: JobRow): StoredJob => ({
  id: row.id,
  serviceId: row.service_id,
  kind: row.kind,
  startCommand: row.start_command,
  plan: row.plan,
  phase: row.phase,
  deployId: row.deploy_id,
  releaseId: row.release_id,
  dueAt: row.due_at,
  triggeredBy: row.triggered_by,
  stopAs: row.stop_as,
  canceledBy: row.canceled_by,
  reason: row.reason,
  exitCode: row.exit_code,
  createdAt: row.created_at,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
})
