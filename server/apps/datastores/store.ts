import type { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import type { DiskState, Suspender } from '../../../shared/datastore.ts'
import { IpAllowList } from '../../../shared/service-controls.ts'
import { defaultLabels } from '../../../shared/service-labels.ts'
import type { VolumeKindName } from '../../engines/port/volumes.ts'
import type { IdPage } from '../../http/answers/page.ts'
import { scopeFilter } from '../../identity/scopes/filter.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import { json } from '../../platform/db/json-column.ts'
import { type Bindings, tableOf } from '../../platform/db/table.ts'
import { commonBindings, commonFilter, listOrNull } from '../list-filter.ts'

export type DatastoreKind = 'postgres' | 'key_value'

/** `creating` until its server ran once, `recovering` until a backup is in place in it; a server runs in `ready` alone. */
export type DatastorePhase = 'creating' | 'ready' | 'recovering' | 'recovery_failed' | 'deleting'

/** A replica is read from alone, and a standby is nobody's to see: it takes the place of its primary. */
export type DatastoreRole = 'primary' | 'replica' | 'standby'

/** What datastores are among those who have something run. */
export const OWNER_KIND = 'datastore'

/** What databases and key-value stores have in common, as it is kept. Times are milliseconds since 1970. */
export interface StoredDatastore {
  id: string
  kind: DatastoreKind
  workspaceId: string
  environmentId: string | null
  name: string
  number: number
  plan: string
  version: string
  volumeId: string
  volumeKind: VolumeKindName
  sizeGb: number
  growToGb: number | null
  ipAllowList: { cidrBlock: string; description: string }[]
  phase: DatastorePhase
  /** Counted up by all that needs a fresh start of the server: it names the set. */
  generation: number
  role: DatastoreRole
  primaryId: string | null
  /** Counted up when the content is to be taken from the primary anew. */
  copy: number
  /** What is under way of its exchange with its standby, or its primary. A primary that hands over goes on itself where the standby lacks something. */
  failover: 'handing' | 'fencing' | 'giving' | null
  /** Set while its data is brought to another major version: `announced` while its server is still to run, `under_way` while it must not. */
  upgrade: 'announced' | 'under_way' | null
  suspendedBy: Suspender[] | null
  problem: string | null
  diskState: DiskState
  growthRefusedAt: number | null
  createdAt: number
  updatedAt: number
}

const datastores = tableOf<StoredDatastore>('datastores', {
  id: 'id',
  kind: 'kind',
  workspaceId: 'workspace_id',
  environmentId: 'environment_id',
  name: 'name',
  number: 'number',
  plan: 'plan',
  version: 'version',
  volumeId: 'volume_id',
  volumeKind: 'volume_kind',
  sizeGb: 'size_gb',
  growToGb: 'grow_to_gb',
  ipAllowList: { column: 'ip_allow_list', as: json({ schema: IpAllowList }) },
  phase: 'phase',
  generation: 'generation',
  role: 'role',
  primaryId: 'primary_id',
  copy: 'copy',
  failover: 'failover',
  upgrade: 'upgrade',
  suspendedBy: {
    column: 'suspended_by',
    as: {
      read: (stored) => (stored === null ? null : suspendedBy.read(stored)),
      write: (value) => (value === null ? null : suspendedBy.write(value)),
    },
  },
  problem: 'problem',
  diskState: 'disk_state',
  growthRefusedAt: 'growth_refused_at',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})

/** What is being deleted and standbys are there for the platform alone. */
const IS_SHOWN = "phase <> 'deleting' AND role <> 'standby'"

const suspendedBy = json({ schema: Type.Array(Type.Unsafe<Suspender>(Type.String())) })

/** One datastore of a workspace, or undefined when there is none of that id in it, or it is being deleted. */
export const findDatastore = (db: Database, workspaceId: string, id: string): StoredDatastore | undefined =>
  datastores.get(db, `WHERE id = $id AND workspace_id = $workspaceId AND ${IS_SHOWN}`, { id, workspaceId })

/** A datastore by id, whoever has it and in any phase: for the platform's own work. */
export const datastoreById = (db: Database, id: string): StoredDatastore | undefined => datastores.get(db, 'WHERE id = $id', { id })

/** What takes its content from a datastore, that which is being deleted included, oldest first. */
export const followersOf = (db: Database, primaryId: string): StoredDatastore[] =>
  datastores.all(db, 'WHERE primary_id = $primaryId ORDER BY id', { primaryId })

/** All datastores, those that are being deleted included, in no order. */
export const allDatastores = (db: Database): StoredDatastore[] => datastores.all(db, '')

/** Whether a datastore, in any phase, has this volume. */
export const isDatastoreVolume = (db: Database, volumeId: string): boolean =>
  datastores.get(db, 'WHERE volume_id = $volumeId', { volumeId }) !== undefined

/** Datastores of a workspace, those that are being deleted included, in no order. */
export const datastoresOfWorkspace = (db: Database, workspaceId: string): StoredDatastore[] =>
  datastores.all(db, 'WHERE workspace_id = $workspaceId', { workspaceId })

/** Whether another datastore of the workspace, of either kind, has this name. */
export const isDatastoreNameTaken = (
  db: Database,
  workspaceId: string,
  { name, exceptId = '' }: { name: string; exceptId?: string },
): boolean =>
  datastores.get(db, `WHERE workspace_id = $workspaceId AND name = $name AND id <> $exceptId AND ${IS_SHOWN}`, {
    ...{ workspaceId, name, exceptId },
  }) !== undefined

export type NewDatastore = Omit<
  StoredDatastore,
  | 'phase'
  | 'generation'
  | 'role'
  | 'primaryId'
  | 'copy'
  | 'failover'
  | 'upgrade'
  | 'suspendedBy'
  | 'problem'
  | 'diskState'
  | 'growthRefusedAt'
  | 'updatedAt'
> &
  Partial<Pick<StoredDatastore, 'phase' | 'role' | 'primaryId'>>

/** Writes a datastore down before anything of it is made. */
export function insertDatastore(db: Database, datastore: NewDatastore): void {
  datastores.insert(db, { phase: 'creating', ...datastore, updatedAt: datastore.createdAt })
}

export type DatastoreChange = Partial<
  Omit<
    StoredDatastore,
    'id' | 'kind' | 'workspaceId' | 'number' | 'volumeId' | 'volumeKind' | 'role' | 'primaryId' | 'createdAt' | 'updatedAt'
  >
>

/** Changes what is named and nothing else. `now` is in milliseconds since 1970. */
export function updateDatastore(db: Database, id: string, change: DatastoreChange, now: number): void {
  datastores.update(db, { id }, { ...change, updatedAt: now })
}

/** Gives each of two datastores the volume of the other. Belongs in the transaction that says why. */
export function swapVolumes(db: Database, one: StoredDatastore, other: StoredDatastore): void {
  const volumeOf = ({ volumeId, volumeKind, sizeGb }: StoredDatastore) => ({ volumeId, volumeKind, sizeGb })
  const wantedGb = Math.max(one.growToGb ?? one.sizeGb, other.growToGb ?? other.sizeGb)
  const growthFrom = (sizeGb: number) => ({ growToGb: sizeGb < wantedGb ? wantedGb : null })
  datastores.update(db, { id: other.id }, { volumeId: `${other.volumeId}.swapped` })
  datastores.update(db, { id: one.id }, { ...volumeOf(other), ...growthFrom(other.sizeGb) })
  datastores.update(db, { id: other.id }, { ...volumeOf(one), ...growthFrom(one.sizeGb) })
}

/** Forgets a datastore, when nothing of it is left on the machine. */
export function removeDatastoreRow(db: Database, id: string): void {
  datastores.remove(db, { id })
}
/** The name of a datastore, or undefined when there is none of this id. */
export const nameOfDatastore = (db: Database, id: string): string | undefined =>
  db.query<{ name: string }, [string]>(`SELECT name FROM datastores WHERE id = ? AND ${IS_SHOWN}`).get(id)?.name

/** The datastore of this kind and name in a workspace, or undefined; one that is being deleted has no name any more. */
export const datastoreNamed = (
  db: Database,
  workspaceId: string,
  { kind, name }: Pick<StoredDatastore, 'kind' | 'name'>,
): StoredDatastore | undefined =>
  datastores.get(db, `WHERE workspace_id = $workspaceId AND name = $name AND kind = $kind AND ${IS_SHOWN}`, {
    workspaceId,
    name,
    kind,
  })

/** Ids of the datastores that a scope lets through, without those that are being deleted. */
export function datastoreIdsOf(db: Database, { workspaceId, scope }: Pick<Viewer, 'workspaceId' | 'scope'>): string[] {
  const { sql = 'TRUE', values = {} } = scopeFilter(scope, { id: 'id', environmentId: 'environment_id' }) ?? {}
  return db
    .query<{ id: string }, [Bindings]>(`SELECT id FROM datastores WHERE workspace_id = $workspaceId AND ${IS_SHOWN} AND ${sql}`)
    .all({ workspaceId, ...values })
    .map(({ id }) => id)
}

/** Datastores that a scope lets through, by name, without those that are being deleted. */
export function datastoresWithin(db: Database, { workspaceId, scope }: Pick<Viewer, 'workspaceId' | 'scope'>): StoredDatastore[] {
  const { sql = 'TRUE', values = {} } = scopeFilter(scope, { id: 'id', environmentId: 'environment_id' }) ?? {}
  return datastores.all(db, `WHERE workspace_id = $workspaceId AND ${IS_SHOWN} AND ${sql} ORDER BY name`, {
    workspaceId,
    ...values,
  })
}

/** Whether one of these datastores, deleted ones aside, is out of a scope. */
export function isAnyDatastoreOutside(db: Database, { scope }: Pick<Viewer, 'scope'>, ids: readonly string[]): boolean {
  const filter = scopeFilter(scope, { id: 'id', environmentId: 'environment_id' })
  if (filter === undefined) return false
  const where = `WHERE id IN (SELECT value FROM json_each($ids)) AND phase <> 'deleting' AND ${filter.sql} IS NOT TRUE`
  return datastores.get(db, where, { ids: JSON.stringify(ids), ...filter.values }) !== undefined
}

/** Whether there is such a datastore that is not being deleted. */
export const isDatastore = (db: Database, id: string): boolean => datastores.get(db, `WHERE id = $id AND ${IS_SHOWN}`, { id }) !== undefined

/** All datastores but those that are being deleted, oldest first. */
export const datastoresToRoute = (db: Database): StoredDatastore[] => datastores.all(db, `WHERE ${IS_SHOWN} ORDER BY created_at, id`)

/** Datastores of one kind that scope and query let through, newest first, without those that are being deleted. */
export function listDatastores(
  db: Database,
  { workspaceId, scope }: Pick<Viewer, 'workspaceId' | 'scope'>,
  query: DatastoreQuery & IdPage & { kind: DatastoreKind },
): StoredDatastore[] {
  const { sql = 'TRUE', values = {} } = scopeFilter(scope, { id: 'id', environmentId: 'environment_id' }) ?? {}
  return datastores.all(
    db,
    `WHERE workspace_id = $workspaceId AND kind = $kind AND ${IS_SHOWN} AND ${sql} AND ($replicas OR role = 'primary')
     AND ($environments IS NULL OR environment_id IN (SELECT value FROM json_each($environments)))
     AND ($projects IS NULL OR environment_id IN
       (SELECT id FROM environments WHERE project_id IN (SELECT value FROM json_each($projects))))
     AND ($suspended IS NULL OR iif(suspended_by IS NULL, 'not_suspended', 'suspended') IN (SELECT value FROM json_each($suspended)))
     AND ($regions IS NULL OR $region IN (SELECT value FROM json_each($regions)))
     AND ${commonFilter}
     ORDER BY id DESC LIMIT $limit`,
    {
      workspaceId,
      kind: query.kind,
      replicas: query.includeReplicas === false ? 0 : 1,
      ...values,
      environments: listOrNull(query.environmentId),
      projects: listOrNull(query.projectId),
      suspended: listOrNull(query.suspended),
      regions: listOrNull(query.region),
      region: defaultLabels.region,
      ...commonBindings(query),
    },
  )
}

interface DatastoreQuery {
  name?: readonly string[]
  environmentId?: readonly string[]
  projectId?: readonly string[]
  suspended?: readonly string[]
  region?: readonly string[]
  createdAfter?: string
  createdBefore?: string
  updatedAfter?: string
  updatedBefore?: string
  includeReplicas?: boolean
}
