import type { Database } from 'bun:sqlite'
import type { Disk, DiskSnapshot, ServiceDisk } from '../../../shared/disk.ts'
import { placeOfDisk } from './place.ts'
import { type StoredSnapshot, snapshotExpiresAt } from './snapshot-store.ts'
import type { StoredDisk } from './store.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

export const presentServiceDisk = ({ id, name, sizeGb, growToGb, mountPath }: StoredDisk): ServiceDisk => ({
  id,
  name,
  sizeGB: growToGb ?? sizeGb,
  mountPath,
})

export const presentDisk = (db: Database, disk: StoredDisk): Disk => ({
  ...presentServiceDisk(disk),
  serviceId: disk.serviceId,
  ...environmentOf(db, disk),
  status: disk.status,
  createdAt: iso(disk.createdAt),
  updatedAt: iso(disk.updatedAt),
  ...(disk.deletedAt === null ? {} : { deletedAt: iso(disk.deletedAt) }),
  ...(disk.keptUntil === null ? {} : { expiresAt: iso(disk.keptUntil) }),
})

function environmentOf(db: Database, disk: StoredDisk): Pick<Disk, 'environmentId'> {
  const { environmentId } = placeOfDisk(db, disk)
  return environmentId === null ? {} : { environmentId }
}

export const presentSnapshot = (snapshot: StoredSnapshot): DiskSnapshot => ({
  createdAt: iso(snapshot.createdAt),
  snapshotKey: snapshot.key,
  status: snapshot.status,
  origin: snapshot.origin,
  ...(snapshot.sizeBytes === null ? {} : { sizeBytes: snapshot.sizeBytes }),
  ...(snapshot.reason === null ? {} : { reason: snapshot.reason }),
  expiresAt: iso(snapshotExpiresAt(snapshot)),
})
