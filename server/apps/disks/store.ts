import type { Database } from 'bun:sqlite'
import type { DiskQuery, DiskStatus } from '../../../shared/disk.ts'
import { type ServiceScope, scopeText } from '../../identity/scopes/scope.ts'

/** A disk as it is kept. Times are milliseconds since 1970. */
export interface StoredDisk {
  id: string
  workspaceId: string
  /** Gone, or being removed, when `deletedAt` is set. */
  serviceId: string
  name: string
  mountPath: string
  sizeGb: number
  isImage: boolean
  status: DiskStatus
  growToGb: number | null
  restoreKey: string | null
  /** Of the snapshot that what is on the disk becomes when it is restored; null until what takes its place is ready. */
  replacedKey: string | null
  uid: number
  deletedAt: number | null
  keptUntil: number | null
  createdAt: number
  updatedAt: number
}

interface DiskRow {
  id: string
  workspace_id: string
  service_id: string
  name: string
  mount_path: string
  size_gb: number
  is_image: number
  status: DiskStatus
  grow_to_gb: number | null
  restore_key: string | null
  replaced_key: string | null
  uid: number
  deleted_at: number | null
  kept_until: number | null
  created_at: number
  updated_at: number
}

export type NewDisk = Pick<
  StoredDisk,
  'id' | 'workspaceId' | 'serviceId' | 'name' | 'mountPath' | 'sizeGb' | 'isImage' | 'uid' | 'createdAt'
>

/** Whether a disk that is to be restored is still the one that instances have. */
export const isPreparingRestore = ({ status, replacedKey }: StoredDisk): boolean => status === 'restoring' && replacedKey === null

/** Writes down that a disk is to be made. */
export function insertDisk(db: Database, disk: NewDisk): void {
  db.query(
    `INSERT INTO disks (id, workspace_id, service_id, name, mount_path, size_gb, is_image, status, uid, created_at, updated_at)
     VALUES ($id, $workspaceId, $serviceId, $name, $mountPath, $sizeGb, $isImage, 'creating', $uid, $createdAt, $createdAt)`,
  ).run({ ...disk, isImage: disk.isImage ? 1 : 0 })
}

/** A disk by id, whosoever it is: for the platform's own work. */
export function diskById(db: Database, id: string): StoredDisk | undefined {
  return one(db.query<DiskRow, [string]>('SELECT * FROM disks WHERE id = ?').get(id))
}

/** A disk of a workspace that is not being deleted. */
export function findDisk(db: Database, workspaceId: string, id: string): StoredDisk | undefined {
  return one(
    db
      .query<DiskRow, [string, string]>("SELECT * FROM disks WHERE id = ? AND workspace_id = ? AND status <> 'deleting'")
      .get(id, workspaceId),
  )
}

/** The disk of a service, also one that is being deleted. */
export function diskOfService(db: Database, serviceId: string): StoredDisk | undefined {
  return one(db.query<DiskRow, [string]>('SELECT * FROM disks WHERE service_id = ?').get(serviceId))
}

/** All disks of a workspace, also those that are being deleted. */
export const disksOfWorkspace = (db: Database, workspaceId: string): StoredDisk[] =>
  db.query<DiskRow, [string]>('SELECT * FROM disks WHERE workspace_id = ?').all(workspaceId).map(present)

/** Ids of all disks. */
export function allDiskIds(db: Database): string[] {
  return db
    .query<{ id: string }, []>('SELECT id FROM disks')
    .all()
    .map(({ id }) => id)
}

export type DiskChange = Partial<
  Pick<
    StoredDisk,
    'serviceId' | 'name' | 'mountPath' | 'sizeGb' | 'status' | 'growToGb' | 'restoreKey' | 'replacedKey' | 'uid' | 'deletedAt' | 'keptUntil'
  >
>

const columns: Record<keyof DiskChange, string> = {
  serviceId: 'service_id',
  name: 'name',
  mountPath: 'mount_path',
  sizeGb: 'size_gb',
  status: 'status',
  growToGb: 'grow_to_gb',
  restoreKey: 'restore_key',
  replacedKey: 'replaced_key',
  uid: 'uid',
  deletedAt: 'deleted_at',
  keptUntil: 'kept_until',
}

/** Changes what is named and nothing else; nothing when the disk is gone. */
export function updateDisk(db: Database, id: string, change: DiskChange, now: number): void {
  const names = Object.keys(change) as (keyof DiskChange)[]
  const assignments = names.map((name) => `${columns[name]} = $${name}, `).join('')
  db.query(`UPDATE disks SET ${assignments}updated_at = $now WHERE id = $id`).run({ ...change, id, now })
}

/** Forgets a disk and its snapshots. */
export function removeDiskRow(db: Database, id: string): void {
  db.query('DELETE FROM disks WHERE id = ?').run(id)
}

/** Disks of a workspace that scope and query let through, newest first, those before `beforeId` when it is given. */
export function listDisks(
  db: Database,
  { workspaceId, scope }: { workspaceId: string; scope: ServiceScope },
  query: DiskQuery & { beforeId: string | undefined; limit: number },
): StoredDisk[] {
  return db
    .query<DiskRow, Record<string, string | number | null>>(
      `SELECT * FROM disks WHERE workspace_id = $workspaceId AND status <> 'deleting'
       AND ($ids IS NULL OR id IN (SELECT value FROM json_each($ids)))
       AND ($names IS NULL OR name IN (SELECT value FROM json_each($names)))
       AND ($services IS NULL OR service_id IN (SELECT value FROM json_each($services)))
       AND ($scope IS NULL OR service_id IN (SELECT value FROM json_each($scope)))
       AND created_at > $createdAfter AND created_at < $createdBefore
       AND updated_at > $updatedAfter AND updated_at < $updatedBefore
       AND ($beforeId IS NULL OR id < $beforeId)
       ORDER BY id DESC LIMIT $limit`,
    )
    .all({
      workspaceId,
      ids: listOf(query.diskId),
      names: listOf(query.name),
      services: listOf(query.serviceId),
      scope: scopeText(scope),
      createdAfter: time(query.createdAfter) ?? -1,
      createdBefore: time(query.createdBefore) ?? Number.MAX_SAFE_INTEGER,
      updatedAfter: time(query.updatedAfter) ?? -1,
      updatedBefore: time(query.updatedBefore) ?? Number.MAX_SAFE_INTEGER,
      beforeId: query.beforeId ?? null,
      limit: query.limit,
    })
    .map(present)
}

const listOf = (values: readonly string[] | undefined): string | null => (values === undefined ? null : JSON.stringify(values))
const time = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text))
const one = (row: DiskRow | null): StoredDisk | undefined => (row === null ? undefined : present(row))

const present = (row: DiskRow): StoredDisk => ({
  id: row.id,
  workspaceId: row.workspace_id,
  serviceId: row.service_id,
  name: row.name,
  mountPath: row.mount_path,
  sizeGb: row.size_gb,
  isImage: row.is_image === 1,
  status: row.status,
  growToGb: row.grow_to_gb,
  restoreKey: row.restore_key,
  replacedKey: row.replaced_key,
  uid: row.uid,
  deletedAt: row.deleted_at,
  keptUntil: row.kept_until,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
