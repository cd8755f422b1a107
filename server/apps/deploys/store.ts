import type { Database } from 'bun:sqlite'
import type { Deploy, DeployQuery, DeployStatus, DeployTrigger, RolloutStrategy } from '../../../shared/deploy.ts'
import { flag } from '../../platform/db/codec.ts'
import { type Bindings, type Row, tableOf } from '../../platform/db/table.ts'
import { commitColumns, type StoredCommit } from '../sources/store.ts'

/** A deploy as it is kept. Times are milliseconds since 1970. */
export interface StoredDeploy extends StoredCommit {
  id: string
  serviceId: string
  status: DeployStatus
  trigger: DeployTrigger
  sourceId: string | null
  /** Branch, tag or commit that was asked for; null for the branch of the service, and where nothing is to be fetched. */
  ref: string | null
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
  strategy: RolloutStrategy | null
  /** When the deploy before left the routes; of a stop-first deploy only. */
  routesLeftAt: number | null
  downtimeMs: number | null
}

const deploys = tableOf<StoredDeploy>('deploys', {
  id: 'id',
  serviceId: 'service_id',
  status: 'status',
  trigger: 'trigger',
  sourceId: 'source_id',
  ref: 'ref',
  releaseId: 'release_id',
  rollbackOf: 'rollback_of',
  isCacheCleared: { column: 'clear_cache', as: flag },
  reason: 'reason',
  interruptions: 'interruptions',
  cancelRequestedAt: 'cancel_requested_at',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  startedAt: 'started_at',
  updateStartedAt: 'update_started_at',
  finishedAt: 'finished_at',
  strategy: 'strategy',
  routesLeftAt: 'routes_left_at',
  downtimeMs: 'gap_ms',
  ...commitColumns,
})

export type NewDeploy = Pick<
  StoredDeploy,
  'id' | 'serviceId' | 'trigger' | 'sourceId' | 'releaseId' | 'rollbackOf' | 'isCacheCleared' | 'createdAt'
> &
  Partial<Pick<StoredDeploy, 'ref' | keyof StoredCommit>>

/** Adds a deploy, which waits in the queue from then on. */
export function insertDeploy(db: Database, deploy: NewDeploy): void {
  deploys.insert(db, { ...deploy, status: 'queued', updatedAt: deploy.createdAt })
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
    | 'downtimeMs'
    | 'sourceId'
    | keyof StoredCommit
  >
>

/** Changes what is named and nothing else. */
export function updateDeploy(db: Database, id: string, change: DeployChange, now: number): void {
  deploys.update(db, { id }, { ...change, updatedAt: now })
}

/** A deploy by id, for the platform's own work. */
export const deployById = (db: Database, id: string): StoredDeploy | undefined => deploys.get(db, 'WHERE id = $id', { id })

/** Deploys that have not ended, oldest first: of one service, or of all. */
export const unfinishedDeploys = (db: Database, serviceId: string | null = null): StoredDeploy[] =>
  deploys.all(db, 'WHERE finished_at IS NULL AND ($serviceId IS NULL OR service_id = $serviceId) ORDER BY id', { serviceId })

/** The newest deploy that was live before the present one. */
export const previousLive = (db: Database, serviceId: string): StoredDeploy | undefined =>
  deploys.get(db, "WHERE service_id = $serviceId AND status = 'deactivated' ORDER BY updated_at DESC, id DESC LIMIT 1", { serviceId })

/** Deploys that are or were live, newest first. */
export const everLive = (db: Database, serviceId: string): StoredDeploy[] =>
  deploys.all(db, "WHERE service_id = $serviceId AND status IN ('live', 'deactivated') ORDER BY id DESC", { serviceId })

/** The newest deploy of a service, however it went. */
export const newestDeploy = (db: Database, serviceId: string): StoredDeploy | undefined =>
  deploys.get(db, 'WHERE service_id = $serviceId ORDER BY id DESC LIMIT 1', { serviceId })

/** Status of the newest deploy of a service; undefined while it has none. */
export const latestDeployStatus = (db: Database, serviceId: string): DeployStatus | undefined =>
  db.query<{ status: DeployStatus }, [string]>('SELECT status FROM deploys WHERE service_id = ? ORDER BY id DESC LIMIT 1').get(serviceId)
    ?.status

interface ShownDeploy extends StoredDeploy {
  sourceSha256: string | null
  guardUntil: number | null
  hasDisk: number
}

function shownDeploys(db: Database, where: string, bindings: Bindings): Deploy[] {
  const rows = db
    .query<Row, [Bindings]>(
      `SELECT ${deploys.columns}, s.sha256 AS sourceSha256, v.guard_until AS guardUntil, k.id IS NOT NULL AS hasDisk
       FROM deploys LEFT JOIN sources s ON s.id = deploys.source_id
       LEFT JOIN services v ON v.id = deploys.service_id AND v.live_deploy_id = deploys.id
       LEFT JOIN disks k ON k.service_id = deploys.service_id WHERE ${where}`,
    )
    .all(bindings)
  return rows.map((row) => presentDeploy(deploys.present(row) as ShownDeploy))
}

/** One deploy of a service as the API sends it. */
export const findDeploy = (db: Database, serviceId: string, id: string): Deploy | undefined =>
  shownDeploys(db, 'deploys.service_id = $serviceId AND deploys.id = $id', { serviceId, id })[0]

/** Deploys of a service as the API sends them, newest first, those before `beforeId` when it is given. */
export function listDeploys(
  db: Database,
  serviceId: string,
  query: DeployQuery & { beforeId: string | undefined; limit: number },
): Deploy[] {
  return shownDeploys(
    db,
    `deploys.service_id = $serviceId
     AND ($statuses IS NULL OR deploys.status IN (SELECT value FROM json_each($statuses)))
     AND deploys.created_at > $createdAfter AND deploys.created_at < $createdBefore
     AND ($finishedAfter IS NULL OR deploys.finished_at > $finishedAfter)
     AND ($finishedBefore IS NULL OR deploys.finished_at < $finishedBefore)
     AND ($beforeId IS NULL OR deploys.id < $beforeId)
     ORDER BY deploys.id DESC LIMIT $limit`,
    {
      serviceId,
      statuses: query.status === undefined ? null : JSON.stringify(query.status),
      createdAfter: time(query.createdAfter) ?? -1,
      createdBefore: time(query.createdBefore) ?? Number.MAX_SAFE_INTEGER,
      finishedAfter: time(query.finishedAfter),
      finishedBefore: time(query.finishedBefore),
      beforeId: query.beforeId ?? null,
      limit: query.limit,
    },
  )
}

const time = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text))
const iso = (time: number): string => new Date(time).toISOString()

function presentDeploy(deploy: ShownDeploy): Deploy {
  const { sourceId, sourceSha256, startedAt, finishedAt, reason, rollbackOf, strategy, downtimeMs, guardUntil } = deploy
  return {
    id: deploy.id,
    status: deploy.status,
    trigger: deploy.trigger,
    createdAt: iso(deploy.createdAt),
    updatedAt: iso(deploy.updatedAt),
    ...(startedAt === null ? {} : { startedAt: iso(startedAt) }),
    ...(finishedAt === null ? {} : { finishedAt: iso(finishedAt) }),
    ...(sourceId === null || !sourceSha256 ? {} : { source: { id: sourceId, sha256: sourceSha256 } }),
    ...presentCommit(deploy),
    ...(reason === null ? {} : { reason }),
    ...(rollbackOf === null ? {} : { rollbackOf }),
    rollout: {
      strategy: strategy ?? (deploy.hasDisk ? 'stop_first' : 'rolling'),
      ...(downtimeMs === null ? {} : { gapMs: downtimeMs }),
    },
    ...(guardUntil === null ? {} : { guardedUntil: iso(guardUntil) }),
  }
}

function presentCommit({ ref, commitId, commitMessage, commitAuthor, committedAt }: StoredDeploy): Pick<Deploy, 'ref' | 'commit'> {
  const commit = commitId !== null && {
    id: commitId,
    message: commitMessage ?? '',
    ...(committedAt !== null && { createdAt: iso(committedAt) }),
    ...(commitAuthor !== null && { author: commitAuthor }),
  }
  return { ...(commit && { commit }), ...(ref !== null && { ref }) }
}
