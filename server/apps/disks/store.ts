import type { Database } from 'bun:sqlite'
import type { DiskQuery, DiskStatus } from '../../../shared/disk.ts'
import type { VolumeKindName } from '../../engines/port/volumes.ts'
import type { Owner } from '../../engines/port/workload.ts'
import { scopeFilter } from '../../identity/scopes/filter.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import { type Codec, flag } from '../../platform/db/codec.ts'
import { tableOf } from '../../platform/db/table.ts'
import { commonBindings, commonFilter, listOrNull } from '../list-filter.ts'

/** A disk as it is kept. Times are milliseconds since 1970. */
export interface StoredDisk {
  id: string
  workspaceId: string
  /** The service is gone, or being removed, when `deletedAt` is set. */
  serviceId: string
  name: string
  mountPath: string
  sizeGb: number
  kind: VolumeKindName
  status: DiskStatus
  growToGb: number | null
  restoreKey: string | null
  /** Key of the snapshot that today's content becomes in a restore; null until what takes its place is ready. */
  replacedKey: string | null
  uid: number
  deletedAt: number | null
  keptUntil: number | null
  /** Where its deleted service was; null while it has one, and for one of no environment. */
  keptEnvironmentId: string | null
  createdAt: number
  updatedAt: number
}

const kindByFlag: Codec<VolumeKindName> = {
  read: (stored) => (flag.read(stored) ? 'image' : 'folder'),
  write: (kind) => flag.write(kind === 'image'),
}

const disks = tableOf<StoredDisk>('disks', {
  id: 'id',
  workspaceId: 'workspace_id',
  serviceId: 'service_id',
  name: 'name',
  mountPath: 'mount_path',
  sizeGb: 'size_gb',
  kind: { column: 'is_image', as: kindByFlag },
  status: 'status',
  growToGb: 'grow_to_gb',
  restoreKey: 'restore_key',
  replacedKey: 'replaced_key',
  uid: 'uid',
  deletedAt: 'deleted_at',
  keptUntil: 'kept_until',
  keptEnvironmentId: 'kept_environment_id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
})

export type NewDisk = Pick<StoredDisk, 'id' | 'workspaceId' | 'serviceId' | 'name' | 'mountPath' | 'sizeGb' | 'kind' | 'uid' | 'createdAt'>

/** Whom its files belong to, as engines are told. */
export const ownerOfDisk = ({ serviceId, uid }: StoredDisk): Owner => ({ id: serviceId, number: uid })

/** Whether a disk that is to be restored is still the one that instances have. */
export const isPreparingRestore = ({ status, replacedKey }: StoredDisk): boolean => status === 'restoring' && replacedKey === null

/** Writes a disk down before it is made. */
export function insertDisk(db: Database, disk: NewDisk): void {
  disks.insert(db, { ...disk, status: 'creating', updatedAt: disk.createdAt })
}

/** A disk by id, whoever has it: for the platform's own work. */
export const diskById = (db: Database, id: string): StoredDisk | undefined => disks.get(db, 'WHERE id = $id', { id })

/** A disk of this workspace that is not being deleted; undefined where it has none of this id. */
export const findDisk = (db: Database, workspaceId: string, id: string): StoredDisk | undefined =>
  disks.get(db, "WHERE id = $id AND workspace_id = $workspaceId AND status <> 'deleting'", { workspaceId, id })

/** The disk of a service, also one that is being deleted. */
export const diskOfService = (db: Database, serviceId: string): StoredDisk | undefined =>
  disks.get(db, 'WHERE service_id = $serviceId', { serviceId })

/** Disks of a workspace, those that are being deleted included, in no order. */
export const disksOfWorkspace = (db: Database, workspaceId: string): StoredDisk[] =>
  disks.all(db, 'WHERE workspace_id = $workspaceId', { workspaceId })

/** Ids of the disks of all workspaces, in no order. */
export const allDiskIds = (db: Database): string[] => disks.all(db, '').map(({ id }) => id)

export type DiskChange = Partial<
  Pick<
    StoredDisk,
    | 'serviceId'
    | 'name'
    | 'mountPath'
    | 'sizeGb'
    | 'status'
    | 'growToGb'
    | 'restoreKey'
    | 'replacedKey'
    | 'uid'
    | 'deletedAt'
    | 'keptUntil'
    | 'keptEnvironmentId'
  >
>

/** Changes what is named and nothing else. `now` is in milliseconds since 1970. */
export function updateDisk(db: Database, id: string, change: DiskChange, now: number): void {
  disks.update(db, { id }, { ...change, updatedAt: now })
}

/** Lets kept disks forget an environment that goes and was not protected: nobody else is kept from what was on them. */
export function forgetPlaceOfKept(db: Database, environmentId: string): void {
  disks.update(db, { keptEnvironmentId: environmentId }, { keptEnvironmentId: null })
}

/** Forgets a disk with its snapshots, when nothing of it is left on the machine. */
export function removeDiskRow(db: Database, id: string): void {
  disks.remove(db, { id })
}

const environmentOfDisk = 'coalesce((SELECT environment_id FROM services WHERE id = service_id), kept_environment_id)'

/** Disks of a workspace that scope and query let through, newest first, those before `beforeId` when it is given. */
export function listDisks(
  db: Database,
  { workspaceId, scope }: Pick<Viewer, 'workspaceId' | 'scope'>,
  query: DiskQuery & { beforeId: string | undefined; limit: number },
): StoredDisk[] {
  const { sql = 'TRUE', values = {} } = scopeFilter(scope, { id: 'service_id', environmentId: environmentOfDisk }) ?? {}
  return disks.all(
    db,
    `WHERE workspace_id = $workspaceId AND status <> 'deleting'
     AND ($ids IS NULL OR id IN (SELECT value FROM json_each($ids)))
     AND ($services IS NULL OR service_id IN (SELECT value FROM json_each($services)))
     AND ${sql}
     AND ($environments IS NULL OR ${environmentOfDisk} IN (SELECT value FROM json_each($environments)))
     AND ($projects IS NULL OR ${environmentOfDisk} IN
       (SELECT id FROM environments WHERE project_id IN (SELECT value FROM json_each($projects))))
     AND ${commonFilter}
     ORDER BY id DESC LIMIT $limit`,
    {
      workspaceId,
      ids: listOrNull(query.diskId),
      services: listOrNull(query.serviceId),
      ...values,
      environments: listOrNull(query.environmentId),
      projects: listOrNull(query.projectId),
      ...commonBindings(query),
    },
  )
}
