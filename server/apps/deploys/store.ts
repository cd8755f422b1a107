import type { Database } from 'bun:sqlite'
import type { Deploy, DeployQuery, DeployStatus, DeployTrigger, RolloutStrategy } from '../../../shared/deploy.ts'

/** A deploy as it is kept. Times are milliseconds since 1970. */
export interface StoredDeploy {
  id: string
  serviceId: string
  status: DeployStatus
  trigger: DeployTrigger
  sourceId: string | null
  /** Present from the moment when there is something to run: at once for a rollback, after the build otherwise. */
  releaseId: string | null
  rollbackOf: string | null
  isCacheCleared: boolean
  reason: string | null
  interruptions: number
  cancelRequestedAt: number | null
  createdAt: number
  updatedAt: number
  startedAt: number | null
  updateStartedAt: number | null
  finishedAt: number | null
  /** Null until it takes the place of the one before. */
  strategy: RolloutStrategy | null
  /** Of a stop-first one: when the one before left the routes. */
  routesLeftAt: number | null
  gapMs: number | null
}

interface DeployRow {
  id: string
  service_id: string
  status: DeployStatus
  trigger: DeployTrigger
  source_id: string | null
  source_sha256?: string | null
  guard_until?: number | null
  release_id: string | null
  rollback_of: string | null
  clear_cache: number
  reason: string | null
  interruptions: number
  cancel_requested_at: number | null
  created_at: number
  updated_at: number
  started_at: number | null
  update_started_at: number | null
  finished_at: number | null
  strategy: RolloutStrategy | null
  routes_left_at: number | null
  gap_ms: number | null
  has_disk?: number
}

export type NewDeploy = Pick<
  StoredDeploy,
  'id' | 'serviceId' | 'trigger' | 'sourceId' | 'releaseId' | 'rollbackOf' | 'isCacheCleared' | 'createdAt'
>

/** Adds a deploy to the queue. */
export function insertDeploy(db: Database, deploy: NewDeploy): void {
  db.query(
    `INSERT INTO deploys (id, service_id, status, trigger, source_id, release_id, rollback_of, clear_cache, created_at, updated_at)
     VALUES ($id, $serviceId, 'queued', $trigger, $sourceId, $releaseId, $rollbackOf, $clearCache, $createdAt, $createdAt)`,
  ).run({
    id: deploy.id,
    serviceId: deploy.serviceId,
    trigger: deploy.trigger,
    sourceId: deploy.sourceId,
    releaseId: deploy.releaseId,
    rollbackOf: deploy.rollbackOf,
    clearCache: deploy.isCacheCleared ? 1 : 0,
    createdAt: deploy.createdAt,
  })
}

export type DeployChange = Partial<
  Pick<
    StoredDeploy,
    | 'status'
    | 'releaseId'
    | 'reason'
    | 'interruptions'
    | 'cancelRequestedAt'
    | 'startedAt'
    | 'updateStartedAt'
    | 'finishedAt'
    | 'strategy'
    | 'routesLeftAt'
    | 'gapMs'
  >
>

const columns: Record<keyof DeployChange, string> = {
  status: 'status',
  releaseId: 'release_id',
  reason: 'reason',
  interruptions: 'interruptions',
  cancelRequestedAt: 'cancel_requested_at',
  startedAt: 'started_at',
  updateStartedAt: 'update_started_at',
  finishedAt: 'finished_at',
  strategy: 'strategy',
  routesLeftAt: 'routes_left_at',
  gapMs: 'gap_ms',
}

/** Changes what is named and nothing else. */
export function updateDeploy(db: Database, id: string, change: DeployChange, now: number): void {
  const names = Object.keys(change) as (keyof DeployChange)[]
  const assignments = names.map((name) => `${columns[name]} = $${name}`).join(', ')
  db.query(`UPDATE deploys SET ${assignments}, updated_at = $now WHERE id = $id`).run({ ...change, id, now })
}

/** A deploy by id, for the platform's own work. */
export function deployById(db: Database, id: string): StoredDeploy | undefined {
  const row = db.query<DeployRow, [string]>('SELECT * FROM deploys WHERE id = ?').get(id)
  return row === null ? undefined : present(row)
}

const SHOWN = `SELECT d.*, s.sha256 AS source_sha256, v.guard_until, k.id IS NOT NULL AS has_disk FROM deploys d LEFT JOIN sources s ON s.id = d.source_id
  LEFT JOIN services v ON v.id = d.service_id AND v.live_deploy_id = d.id
  LEFT JOIN disks k ON k.service_id = d.service_id`

/** One deploy of a service as the API sends it. */
export function findDeploy(db: Database, serviceId: string, id: string): Deploy | undefined {
  const row = db.query<DeployRow, [string, string]>(`${SHOWN} WHERE d.service_id = ? AND d.id = ?`).get(serviceId, id)
  return row === null ? undefined : presentDeploy(row)
}

/** Deploys of a service as the API sends them, newest first, those before `beforeId` when it is given. */
export function listDeploys(
  db: Database,
  serviceId: string,
  query: DeployQuery & { beforeId: string | undefined; limit: number },
): Deploy[] {
  return db
    .query<DeployRow, Record<string, string | number | null>>(
      `${SHOWN} WHERE d.service_id = $serviceId
       AND ($statuses IS NULL OR d.status IN (SELECT value FROM json_each($statuses)))
       AND d.created_at > $createdAfter AND d.created_at < $createdBefore
       AND ($finishedAfter IS NULL OR d.finished_at > $finishedAfter)
       AND ($finishedBefore IS NULL OR d.finished_at < $finishedBefore)
       AND ($beforeId IS NULL OR d.id < $beforeId)
       ORDER BY d.id DESC LIMIT $limit`,
    )
    .all({
      serviceId,
      statuses: query.status === undefined ? null : JSON.stringify(query.status),
      createdAfter: time(query.createdAfter) ?? -1,
      createdBefore: time(query.createdBefore) ?? Number.MAX_SAFE_INTEGER,
      finishedAfter: time(query.finishedAfter),
      finishedBefore: time(query.finishedBefore),
      beforeId: query.beforeId ?? null,
      limit: query.limit,
    })
    .map(presentDeploy)
}

/** Deploys that have not ended, oldest first: of one service, or of all. */
export function unfinishedDeploys(db: Database, serviceId?: string): StoredDeploy[] {
  return db
    .query<DeployRow, { serviceId: string | null }>(
      'SELECT * FROM deploys WHERE finished_at IS NULL AND ($serviceId IS NULL OR service_id = $serviceId) ORDER BY id',
    )
    .all({ serviceId: serviceId ?? null })
    .map(present)
}

/** The newest deploy that was live before the present one. */
export function previousLive(db: Database, serviceId: string): StoredDeploy | undefined {
  const row = db
    .query<DeployRow, [string]>(
      "SELECT * FROM deploys WHERE service_id = ? AND status = 'deactivated' ORDER BY updated_at DESC, id DESC LIMIT 1",
    )
    .get(serviceId)
  return row === null ? undefined : present(row)
}

/** Deploys that are or were live, newest first. */
export function everLive(db: Database, serviceId: string): StoredDeploy[] {
  return db
    .query<DeployRow, [string]>("SELECT * FROM deploys WHERE service_id = ? AND status IN ('live', 'deactivated') ORDER BY id DESC")
    .all(serviceId)
    .map(present)
}

const time = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text))
const iso = (time: number): string => new Date(time).toISOString()

function present(row: DeployRow): StoredDeploy {
  return {
    id: row.id,
    serviceId: row.service_id,
    status: row.status,
    trigger: row.trigger,
    sourceId: row.source_id,
    releaseId: row.release_id,
    rollbackOf: row.rollback_of,
    isCacheCleared: row.clear_cache === 1,
    reason: row.reason,
    interruptions: row.interruptions,
    cancelRequestedAt: row.cancel_requested_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    startedAt: row.started_at,
    updateStartedAt: row.update_started_at,
    finishedAt: row.finished_at,
    strategy: row.strategy,
    routesLeftAt: row.routes_left_at,
    gapMs: row.gap_ms,
  }
}

function presentDeploy(row: DeployRow): Deploy {
  return {
    id: row.id,
    status: row.status,
    trigger: row.trigger,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
    ...(row.started_at === null ? {} : { startedAt: iso(row.started_at) }),
    ...(row.finished_at === null ? {} : { finishedAt: iso(row.finished_at) }),
    ...(row.source_id === null || !row.source_sha256 ? {} : { source: { id: row.source_id, sha256: row.source_sha256 } }),
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.rollback_of === null ? {} : { rollbackOf: row.rollback_of }),
    rollout: {
      strategy: row.strategy ?? (row.has_disk ? 'stop_first' : 'rolling'),
      ...(row.gap_ms === null ? {} : { gapMs: row.gap_ms }),
    },
    ...(row.guard_until == null ? {} : { guardedUntil: iso(row.guard_until) }),
  }
}

/** How the latest deploy of a service stands, or undefined when there was none. */
export const latestDeployStatus = (db: Database, serviceId: string): DeployStatus | undefined =>
  db.query<{ status: DeployStatus }, [string]>('SELECT status FROM deploys WHERE service_id = ? ORDER BY id DESC LIMIT 1').get(serviceId)
    ?.status
