import type { Database } from 'bun:sqlite'
import type { ServiceControls, SleepMode } from '../../../shared/service-controls.ts'
import type { Runtime } from '../../../shared/service-details.ts'
import type { ServiceLabels } from '../../../shared/service-labels.ts'
import { type ServiceType, typesWith } from '../../../shared/service-type.ts'
import { scopeFilter } from '../../identity/scopes/filter.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import type { Placed } from '../../identity/scopes/scope.ts'
import { orNull } from '../../platform/db/codec.ts'
import { sqlList } from '../../platform/db/sql-list.ts'
import { type Bindings, tableOf } from '../../platform/db/table.ts'
import type { Figures } from '../cutover-guard/verdict.ts'
import { controlsColumn, figuresColumn, labelsColumn, settingsColumn } from './columns.ts'
import type { ServiceSettings } from './settings.ts'

/** A release that is watched after it took another's place; times here and below are milliseconds since 1970. */
export interface StoredGuard {
  previous: { deployId: string; generation: number }
  startedAt: number
  until: number
  baseline: Figures
}

export interface StoredSleep {
  at: number
  how: Exclude<SleepMode, 'off'>
}

export interface StoredService {
  id: string
  workspaceId: string
  environmentId: string | null
  name: string
  slug: string
  type: ServiceType
  uid: number
  numInstances: number
  settings: ServiceSettings
  controls: ServiceControls
  labels: ServiceLabels
  /** The service whose pull request this one shows; null for those that people make. */
  previewOf: string | null
  /** A preview of a fork: the commit that somebody approved, beside which none is fetched. It is in a private network of its own. */
  foreignCommit: string | null
  detectedRuntime: Runtime | null
  generation: number
  liveDeployId: string | null
  liveGeneration: number
  guard: StoredGuard | null
  asleep: StoredSleep | null
  /** The service was last woken, or kept from falling asleep, at this time. */
  wokenAt: number | null
  suspendedAt: number | null
  deletedAt: number | null
  createdAt: number
  updatedAt: number
}

interface ServiceRow extends Omit<StoredService, 'guard' | 'asleep'> {
  guardDeployId: string | null
  guardGeneration: number | null
  guardStartedAt: number | null
  guardUntil: number | null
  guardBaseline: Figures | null
  asleepAt: number | null
  asleepHow: StoredSleep['how'] | null
}

const services = tableOf<ServiceRow>('services', {
  id: 'id',
  workspaceId: 'workspace_id',
  environmentId: 'environment_id',
  name: 'name',
  slug: 'slug',
  type: 'type',
  uid: 'uid',
  numInstances: 'num_instances',
  settings: { column: 'settings', as: settingsColumn },
  controls: { column: 'controls', as: controlsColumn },
  labels: { column: 'labels', as: labelsColumn },
  previewOf: 'preview_of',
  foreignCommit: 'foreign_commit',
  detectedRuntime: 'detected_runtime',
  generation: 'generation',
  liveDeployId: 'live_deploy_id',
  liveGeneration: 'live_generation',
  guardDeployId: 'guard_deploy_id',
  guardGeneration: 'guard_generation',
  guardStartedAt: 'guard_started_at',
  guardUntil: 'guard_until',
  guardBaseline: { column: 'guard_baseline', as: orNull(figuresColumn) },
  asleepAt: 'asleep_at',
  asleepHow: 'asleep_how',
  wokenAt: 'woken_at',
  suspendedAt: 'suspended_at',
  deletedAt: 'deleted_at',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})

/** One service of a workspace, or undefined when there is none of that id in it, or it is being deleted. */
export const findService = (db: Database, workspaceId: string, id: string): StoredService | undefined =>
  one(services.get(db, 'WHERE id = $id AND workspace_id = $workspaceId AND deleted_at IS NULL', { id, workspaceId }))

/** One service by id, whoever has it, also while it is being deleted: for the platform's own work, never for a caller. */
export const serviceById = (db: Database, id: string): StoredService | undefined => one(services.get(db, 'WHERE id = $id', { id }))

/** Where a service is, also while it is being deleted; one that is gone is in no environment. */
export function placeOf(db: Database, id: string): Placed {
  const query = db.query<Pick<Placed, 'environmentId'>, [string]>('SELECT environment_id AS environmentId FROM services WHERE id = ?')
  return { id, environmentId: query.get(id)?.environmentId ?? null }
}

/** Services of a workspace, those that are being deleted included, in no order. */
export const servicesOfWorkspace = (db: Database, workspaceId: string): StoredService[] =>
  services.all(db, 'WHERE workspace_id = $workspaceId', { workspaceId }).map(folded)

/** Services that are deployed from a repository, of a workspace or of all, without those that are being deleted, oldest first. */
export const servicesWithRepository = (db: Database, workspaceId?: string): StoredService[] =>
  services
    .all(
      db,
      `WHERE deleted_at IS NULL AND json_extract(labels, '$.repo') <> '' AND ($workspaceId IS NULL OR workspace_id = $workspaceId) ORDER BY id`,
      { workspaceId: workspaceId ?? null },
    )
    .map(folded)

/** Services that the filter (see filter.ts) lets through, newest first. */
export const selectServices = (
  db: Database,
  { where, values, limit }: { where: string; values: Bindings; limit: number },
): StoredService[] =>
  services.all(db, `WHERE deleted_at IS NULL AND ${where} ORDER BY id DESC LIMIT $limit`, { ...values, limit }).map(folded)

const idsOf = (db: Database, where: string, bindings: Bindings = {}): string[] =>
  db
    .query<{ id: string }, [Bindings]>(`SELECT id FROM services WHERE ${where}`)
    .all(bindings)
    .map(({ id }) => id)

/** Ids of the services of which something runs, should run, or is to be removed. */
export const servicesToWatch = (db: Database): string[] =>
  idsOf(
    db,
    `deleted_at IS NOT NULL
     OR (live_deploy_id IS NOT NULL AND suspended_at IS NULL AND type IN (${sqlList(typesWith('hasInstances'))}))
     OR id IN (SELECT owner_id FROM sets WHERE owner_kind = 'service')`,
  )

/** Ids of the services that a scope lets through, without those that are being deleted. */
export function serviceIdsOf(db: Database, { workspaceId, scope }: Pick<Viewer, 'workspaceId' | 'scope'>): string[] {
  const { sql = 'TRUE', values = {} } = scopeFilter(scope, { id: 'id', environmentId: 'environment_id' }) ?? {}
  return idsOf(db, `workspace_id = $workspaceId AND deleted_at IS NULL AND ${sql}`, { workspaceId, ...values })
}

/** Whether one of these services, deleted ones aside, is out of a scope. */
export function isAnyOutside(db: Database, { scope }: Pick<Viewer, 'scope'>, ids: readonly string[]): boolean {
  const filter = scopeFilter(scope, { id: 'id', environmentId: 'environment_id' })
  if (filter === undefined) return false
  const where = `id IN (SELECT value FROM json_each($ids)) AND deleted_at IS NULL AND ${filter.sql} IS NOT TRUE`
  return idsOf(db, where, { ids: JSON.stringify(ids), ...filter.values }).length > 0
}

/** Whether another service of the workspace than `exceptId` has this name. Belongs in the transaction that takes it. */
export const isNameTaken = (db: Database, workspaceId: string, name: string, exceptId = ''): boolean =>
  idsOf(db, 'workspace_id = $workspaceId AND name = $name AND id <> $exceptId AND deleted_at IS NULL', { workspaceId, name, exceptId })
    .length > 0

/** The id of the service that has this name in a workspace; undefined where none has. */
export const serviceIdNamed = (db: Database, workspaceId: string, name: string): string | undefined =>
  idsOf(db, 'workspace_id = $workspaceId AND name = $name AND deleted_at IS NULL', { workspaceId, name })[0]

/** Whether any service of the installation has this slug. */
export const isSlugTaken = (db: Database, slug: string): boolean => idsOf(db, 'slug = $slug', { slug }).length > 0

/** Whose service each is, by its id, those that are being deleted included. */
export function workspacesOfServices(db: Database): Map<string, string> {
  const rows = db.query<{ id: string; workspaceId: string }, []>('SELECT id, workspace_id AS workspaceId FROM services').all()
  return new Map(rows.map(({ id, workspaceId }) => [id, workspaceId]))
}

export type NewService = Pick<
  StoredService,
  'id' | 'workspaceId' | 'name' | 'slug' | 'type' | 'uid' | 'numInstances' | 'settings' | 'controls' | 'labels' | 'createdAt'
> &
  Partial<Pick<StoredService, 'environmentId' | 'previewOf' | 'foreignCommit'>>

/** Adds a service, which has nothing live. Belongs in the transaction that found its slug free. */
export function insertServiceRow(db: Database, service: NewService): void {
  services.insert(db, { ...service, updatedAt: service.createdAt })
}

export type ServiceChange = Partial<
  Pick<
    StoredService,
    | 'environmentId'
    | 'name'
    | 'numInstances'
    | 'settings'
    | 'controls'
    | 'labels'
    | 'foreignCommit'
    | 'detectedRuntime'
    | 'generation'
    | 'suspendedAt'
  >
>

/** Changes what is named and nothing else, and marks the service as updated at `now`; nothing when it is gone. */
export function updateService(db: Database, id: string, change: ServiceChange, now: number): void {
  services.update(db, { id }, { ...change, updatedAt: now })
}

/** Makes a deploy the one that is served. Belongs in the transaction that says what its instances are. */
export function setLive(db: Database, id: string, live: { deployId: string; generation: number }): void {
  services.update(db, { id }, { liveDeployId: live.deployId, liveGeneration: live.generation })
}

/** Begins to watch a cut-over, with what it goes back to; null ends that. */
export function setGuard(db: Database, id: string, guard: StoredGuard | null): void {
  const change = {
    guardDeployId: guard?.previous.deployId ?? null,
    guardGeneration: guard?.previous.generation ?? null,
    guardStartedAt: guard?.startedAt ?? null,
    guardUntil: guard?.until ?? null,
    guardBaseline: guard?.baseline ?? null,
  }
  services.update(db, { id }, change)
}

/** Writes down since when a service sleeps, and in which way. */
export function setAsleep(db: Database, id: string, asleep: StoredSleep): void {
  services.update(db, { id }, { asleepAt: asleep.at, asleepHow: asleep.how })
}

/** Writes down that a service sleeps no more, and when it was woken (milliseconds since 1970). */
export function setAwake(db: Database, id: string, now: number): void {
  services.update(db, { id }, { asleepAt: null, asleepHow: null, wokenAt: now })
}

/** Begins a deletion. The slug is free for others from then on. */
export function markDeleted(db: Database, id: string, now: number): void {
  services.update(db, { id }, { deletedAt: now, slug: id })
}

/** Ends a deletion: the row and everything that hangs on it. */
export function removeServiceRow(db: Database, id: string): void {
  services.remove(db, { id })
}

const one = (row: ServiceRow | undefined): StoredService | undefined => (row === undefined ? undefined : folded(row))

function folded(row: ServiceRow): StoredService {
  const { guardDeployId, guardGeneration, guardStartedAt, guardUntil, guardBaseline, asleepAt, asleepHow, ...service } = row
  const guard = guardIn({
    deployId: guardDeployId,
    generation: guardGeneration,
    startedAt: guardStartedAt,
    until: guardUntil,
    baseline: guardBaseline,
  })
  return { ...service, guard, asleep: asleepAt === null || asleepHow === null ? null : { at: asleepAt, how: asleepHow } }
}

type Parts<T> = { [K in keyof T]: T[K] | null }

function guardIn({
  deployId,
  generation,
  startedAt,
  until,
  baseline,
}: Parts<StoredGuard['previous'] & Omit<StoredGuard, 'previous'>>): StoredGuard | null {
  if (deployId === null || generation === null || startedAt === null || until === null || baseline === null) return null
  return { previous: { deployId, generation }, startedAt, until, baseline }
}
