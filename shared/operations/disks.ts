import { Type } from '@sinclair/typebox'
import { Disk, DiskCreate, DiskPatch, DiskQuery, DiskSnapshot, RestoreBody } from '../disk.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'

const DiskParams = Type.Object({ diskId: Type.String({ description: 'Id of the disk' }) })
const SnapshotParams = Type.Object({
  diskId: Type.String({ description: 'Id of the disk' }),
  snapshotKey: Type.String({ description: 'Key of the snapshot' }),
})

export const diskOperations = defineOperations({
  listDisks: {
    method: 'GET',
    path: '/v1/disks',
    access: 'services.read',
    tag: 'Disks',
    summary: 'List disks',
    description: 'Disks of deleted services stand among them, with `expiresAt`, until they are removed.',
    query: DiskQuery,
    responses: { 200: PageOf('disk', Disk) },
  },
  createDisk: {
    method: 'POST',
    path: '/v1/disks',
    access: 'disks.manage',
    tag: 'Disks',
    summary: 'Give a service a disk',
    description:
      'Instances see it from the next deploy or restart on, jobs as soon as it is available; builds and pre-deploy commands do not. ' +
      'A service with a disk runs as one instance, and is deployed and restarted stop-first: the old instance ends before the new one starts.',
    body: DiskCreate,
    responses: { 201: Disk },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  getDisk: {
    method: 'GET',
    path: '/v1/disks/:diskId',
    access: 'services.read',
    tag: 'Disks',
    summary: 'One disk',
    params: DiskParams,
    responses: { 200: Disk },
    errors: ['not_found'],
  },
  updateDisk: {
    method: 'PATCH',
    path: '/v1/disks/:diskId',
    access: 'disks.manage',
    tag: 'Disks',
    summary: 'Rename, move or grow a disk, or give a kept one to another service',
    description: 'To grow it, its service is stopped for a moment. Another mount path takes effect with the next deploy or restart.',
    params: DiskParams,
    body: DiskPatch,
    responses: { 200: Disk },
    errors: ['not_found', 'conflict'],
  },
  deleteDisk: {
    method: 'DELETE',
    path: '/v1/disks/:diskId',
    access: 'disks.manage',
    tag: 'Disks',
    summary: 'Delete a disk with everything on it, and its snapshots',
    description: 'Its service is restarted without it.',
    params: DiskParams,
    responses: { 204: null },
    errors: ['not_found'],
  },
  listDiskSnapshots: {
    method: 'GET',
    path: '/v1/disks/:diskId/snapshots',
    access: 'services.read',
    tag: 'Disks',
    summary: 'List snapshots of a disk, newest first',
    params: DiskParams,
    responses: { 200: Type.Array(DiskSnapshot) },
    errors: ['not_found'],
  },
  createDiskSnapshot: {
    method: 'POST',
    path: '/v1/disks/:diskId/snapshots',
    access: 'disks.manage',
    tag: 'Disks',
    summary: 'Take a snapshot of a disk now',
    description: 'Answers at once; `status` in the list tells when it is there. Writes to the disk wait while it is copied.',
    params: DiskParams,
    responses: { 201: DiskSnapshot },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  restoreDiskSnapshot: {
    method: 'POST',
    path: '/v1/disks/:diskId/snapshots/restore',
    access: 'disks.manage',
    tag: 'Disks',
    summary: 'Restore a disk from a snapshot',
    description: 'When the copy is ready, the service is stopped for a moment. What was on the disk is kept as a snapshot of its own.',
    params: DiskParams,
    body: RestoreBody,
    responses: { 200: Disk },
    errors: ['not_found', 'conflict'],
  },
  deleteDiskSnapshot: {
    method: 'DELETE',
    path: '/v1/disks/:diskId/snapshots/:snapshotKey',
    access: 'disks.manage',
    tag: 'Disks',
    summary: 'Delete a snapshot of a disk',
    params: SnapshotParams,
    responses: { 204: null },
    errors: ['not_found', 'conflict'],
  },
})
