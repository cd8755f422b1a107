import type { Database } from 'bun:sqlite'
import type { Runtime } from '../../../shared/service.ts'
import { defaultControls, type ServiceControls, type SleepMode } from '../../../shared/service-controls.ts'
import { defaultLabels, type ServiceLabels } from '../../../shared/service-labels.ts'
import type { ServiceType } from '../../../shared/service-type.ts'
import { slugify } from '../../../shared/slug.ts'
import { isWithin, type ServiceScope } from '../../identity/scopes/scope.ts'
import { randomLetters } from '../../platform/id.ts'
import { memo } from '../../platform/memo.ts'
import type { Figures } from '../cutover-guard/verdict.ts'
import type { ServiceSettings } from './settings.ts'

/** A release that is watched after it took another's place. Times are milliseconds since 1970. */
export interface StoredGuard {
  /** What was live before: its instances stand by. */
  previous: { deployId: string; generation: number }
  startedAt: number
  until: number
  /** How the one before did, until the switch. */
  baseline: Figures
}

/** Since when a service is to be asleep, and how. */
export interface StoredSleep {
  at: number
  how: Exclude<SleepMode, 'off'>
}

/** A service as it is kept. Times are milliseconds since 1970. */
export interface StoredService {
  id: string
  workspaceId: string
  name: string
  slug: string
  type: ServiceType
  uid: number
  numInstances: number
  settings: ServiceSettings
  /** In force at once, and no part of a release. */
  controls: ServiceControls
  /** Kept for clients, and no part of a release. */
  labels: ServiceLabels
  detectedRuntime: Runtime | null
  /** Which generation of instances is wanted; a restart raises it. */
  generation: number
  liveDeployId: string | null
  /** Which generation of the live deploy's instances serves. */
  liveGeneration: number
  /** While the live release is watched. */
  guard: StoredGuard | null
  /** While it is to be asleep, and how. */
  asleep: StoredSleep | null
  /** When it was last woken, or kept from falling asleep. */
  wokenAt: number | null
  suspendedAt: number | null
  deletedAt: number | null
  createdAt: number
  updatedAt: number
}

interface ServiceRow {
  id: string
  workspace_id: string
  name: string
  slug: string
  type: ServiceType
  uid: number
  num_instances: number
  settings: string
  controls: string
  labels: string
  detected_runtime: Runtime | null
  generation: number
  live_deploy_id: string | null
  live_generation: number
  guard_deploy_id: string | null
  guard_generation: number | null
  guard_started_at: number | null
  guard_until: number | null
  guard_baseline: string | null
  asleep_at: number | null
  asleep_how: StoredSleep['how'] | null
  woken_at: number | null
  suspended_at: number | null
  deleted_at: number | null
  created_at: number
  updated_at: number
}

/** One service of a workspace, or undefined when there is none of that id in it, or it is being deleted. */
export function findService(db: Database, workspaceId: string, id: string): StoredService | undefined {
  return one(
    db
      .query<ServiceRow, [string, string]>('SELECT * FROM services WHERE id = ? AND workspace_id = ? AND deleted_at IS NULL')
      .get(id, workspaceId),
  )
}

/** One service by id whosoever it is, also while it is being deleted: for the platform's own work, never for a caller. */
export function serviceById(db: Database, id: string): StoredService | undefined {
  return one(db.query<ServiceRow, [string]>('SELECT * FROM services WHERE id = ?').get(id))
}

/** All services of a workspace, also those that are being deleted. */
export const servicesOfWorkspace = (db: Database, workspaceId: string): StoredService[] =>
  db.query<ServiceRow, [string]>('SELECT * FROM services WHERE workspace_id = ?').all(workspaceId).map(present)

/** Ids of the services of which something runs, should run, or is to be removed. */
export function servicesToWatch(db: Database): string[] {
  return db
    .query<{ id: string }, []>(
      `SELECT id FROM services WHERE deleted_at IS NOT NULL
       OR (live_deploy_id IS NOT NULL AND suspended_at IS NULL AND type NOT IN ('static_site', 'cron_job'))
       OR id IN (SELECT service_id FROM instances)`,
    )
    .all()
    .map((row) => row.id)
}

/** Ids of the services of a workspace that lie within a scope. */
export function serviceIdsOf(db: Database, { workspaceId, scope }: { workspaceId: string; scope: ServiceScope }): string[] {
  return db
    .query<{ id: string }, [string]>('SELECT id FROM services WHERE workspace_id = ? AND deleted_at IS NULL')
    .all(workspaceId)
    .map((row) => row.id)
    .filter((id) => isWithin(scope, id))
}

/** Whether a workspace has another service of this name. */
export function isNameTaken(db: Database, workspaceId: string, name: string, exceptId = ''): boolean {
  return (
    db
      .query<{ id: string }, [string, string, string]>(
        'SELECT id FROM services WHERE workspace_id = ? AND name = ? AND id <> ? AND deleted_at IS NULL',
      )
      .get(workspaceId, name, exceptId) !== null
  )
}

export type NewService = Pick<
  StoredService,
  'id' | 'workspaceId' | 'name' | 'type' | 'numInstances' | 'settings' | 'controls' | 'labels' | 'createdAt'
>

/** Adds a service with a slug that is neither taken nor reserved, and a user of its own. Belongs into the transaction that checked the name. */
export function insertService(db: Database, service: NewService, isReserved: (slug: string) => boolean): void {
  db.query(
    `INSERT INTO services (id, workspace_id, name, slug, type, uid, num_instances, settings, controls, labels, created_at, updated_at)
     VALUES ($id, $workspaceId, $name, $slug, $type, $uid, $numInstances, $settings, $controls, $labels, $createdAt, $createdAt)`,
  ).run({
    ...service,
    settings: JSON.stringify(service.settings),
    controls: JSON.stringify(service.controls),
    labels: JSON.stringify(service.labels),
    slug: freeSlug(db, service.name, isReserved),
    uid: nextUid(db),
  })
}

export type ServiceChange = Partial<
  Pick<StoredService, 'name' | 'numInstances' | 'settings' | 'controls' | 'labels' | 'detectedRuntime' | 'generation' | 'suspendedAt'>
>

/** Changes what is named and nothing else, and marks the service as updated at `now`; nothing when it is gone. */
export function updateService(db: Database, id: string, change: ServiceChange, now: number): void {
  const current = serviceById(db, id)
  if (current === undefined) return
  const next = { ...current, ...change }
  db.query(
    `UPDATE services SET name = $name, num_instances = $numInstances, settings = $settings, controls = $controls, labels = $labels,
     detected_runtime = $detectedRuntime, generation = $generation, suspended_at = $suspendedAt, updated_at = $now WHERE id = $id`,
  ).run({
    id,
    name: next.name,
    numInstances: next.numInstances,
    settings: JSON.stringify(next.settings),
    controls: JSON.stringify(next.controls),
    labels: JSON.stringify(next.labels),
    detectedRuntime: next.detectedRuntime,
    generation: next.generation,
    suspendedAt: next.suspendedAt,
    now,
  })
}

/** Makes a deploy and generation the one that serves. */
export function setLive(db: Database, id: string, live: { deployId: string; generation: number }): void {
  db.query('UPDATE services SET live_deploy_id = ?, live_generation = ? WHERE id = ?').run(live.deployId, live.generation, id)
}

/** Has the live release watched, or no longer. */
export function setGuard(db: Database, id: string, guard: StoredGuard | null): void {
  db.query(
    `UPDATE services SET guard_deploy_id = $deployId, guard_generation = $generation, guard_started_at = $startedAt,
     guard_until = $until, guard_baseline = $baseline WHERE id = $id`,
  ).run({
    id,
    deployId: guard?.previous.deployId ?? null,
    generation: guard?.previous.generation ?? null,
    startedAt: guard?.startedAt ?? null,
    until: guard?.until ?? null,
    baseline: guard === null ? null : JSON.stringify(guard.baseline),
  })
}

/** Has it be asleep from now on. */
export function setAsleep(db: Database, id: string, asleep: StoredSleep): void {
  db.query('UPDATE services SET asleep_at = $at, asleep_how = $how WHERE id = $id').run({ id, ...asleep })
}

/** Has it be awake from now on. */
export function setAwake(db: Database, id: string, now: number): void {
  db.query('UPDATE services SET asleep_at = NULL, asleep_how = NULL, woken_at = ? WHERE id = ?').run(now, id)
}

/** Begins a deletion: the service is gone for every caller, and its slug is free at once. */
export function markDeleted(db: Database, id: string, now: number): void {
  db.query('UPDATE services SET deleted_at = ?, slug = id WHERE id = ?').run(now, id)
}

/** Ends a deletion: the row and everything that hangs on it. */
export function removeServiceRow(db: Database, id: string): void {
  db.query('DELETE FROM services WHERE id = ?').run(id)
}

/** Services that the filter (see filter.ts) lets through, newest first. */
export function selectServices(
  db: Database,
  { where, values, limit }: { where: string; values: Record<string, string | number>; limit: number },
): StoredService[] {
  return db
    .query<ServiceRow, [Record<string, string | number>]>(
      `SELECT * FROM services WHERE deleted_at IS NULL AND ${where} ORDER BY id DESC LIMIT $limit`,
    )
    .all({ ...values, limit })
    .map(present)
}

const SLUG_SUFFIX_LETTERS = 4

function freeSlug(db: Database, name: string, isReserved: (slug: string) => boolean): string {
  const isTaken = db.query<{ id: string }, [string]>('SELECT id FROM services WHERE slug = ?')
  const wanted = slugify(name)
  for (let slug = wanted; ; slug = `${wanted}-${randomLetters(SLUG_SUFFIX_LETTERS)}`) {
    if (!isReserved(slug) && isTaken.get(slug) === null) return slug
  }
}

/**
 * The block of user ids of this installation begins at random between these, so that two on one machine do not meet.
 * Above what distributions, containers (524,288 to 1,879,048,191 in systemd's list of uids) and NFS's nobody use.
 */
const UID_BLOCK = 65_536
const FIRST_UID = 1_900_019_712
const UID_BLOCKS = 3000

/** User ids are never used again: a file left over anywhere can't become a stranger's. */
function nextUid(db: Database): number {
  const row = db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'next_uid'").get()
  const uid = row === null ? FIRST_UID + UID_BLOCK * Math.floor(Math.random() * UID_BLOCKS) : Number(row.value)
  db.query("INSERT INTO meta (key, value) VALUES ('next_uid', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value").run(
    String(uid + 1),
  )
  return uid
}

const REMEMBERED_SETTINGS = 2000

/** Parsing them was a fifteenth of an API read. They are shared, so nobody may change them: a change is a new object. */
const settingsIn = memo((text: string) => Object.freeze(JSON.parse(text) as ServiceSettings), REMEMBERED_SETTINGS)

/** Those that a service was never given are the defaults. */
export const controlsIn = memo(
  (text: string): ServiceControls => Object.freeze({ ...defaultControls, ...(JSON.parse(text) as Partial<ServiceControls>) }),
  REMEMBERED_SETTINGS,
)

const labelsIn = memo(
  (text: string): ServiceLabels => Object.freeze({ ...defaultLabels, ...(JSON.parse(text) as Partial<ServiceLabels>) }),
  REMEMBERED_SETTINGS,
)

const one = (row: ServiceRow | null): StoredService | undefined => (row === null ? undefined : present(row))

function present(row: ServiceRow): StoredService {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    slug: row.slug,
    type: row.type,
    uid: row.uid,
    numInstances: row.num_instances,
    settings: settingsIn(row.settings),
    controls: controlsIn(row.controls),
    labels: labelsIn(row.labels),
    detectedRuntime: row.detected_runtime,
    generation: row.generation,
    liveDeployId: row.live_deploy_id,
    liveGeneration: row.live_generation,
    guard: guardIn(row),
    asleep: row.asleep_at === null || row.asleep_how === null ? null : { at: row.asleep_at, how: row.asleep_how },
    wokenAt: row.woken_at,
    suspendedAt: row.suspended_at,
    deletedAt: row.deleted_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function guardIn(row: ServiceRow): StoredGuard | null {
  const { guard_deploy_id: deployId, guard_generation: generation, guard_started_at: startedAt, guard_until: until, guard_baseline } = row
  if (deployId === null || generation === null || startedAt === null || until === null || guard_baseline === null) return null
  return { previous: { deployId, generation }, startedAt, until, baseline: JSON.parse(guard_baseline) as Figures }
}

/** Whose service each is, by its id, those that are being deleted included. */
export const workspacesOfServices = (db: Database): Map<string, string> =>
  new Map(
    db
      .query<{ id: string; workspaceId: string }, []>('SELECT id, workspace_id AS workspaceId FROM services')
      .all()
      .map(({ id, workspaceId }) => [id, workspaceId]),
  )
