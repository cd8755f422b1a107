import { type Static, Type } from '@sinclair/typebox'
import { Id, idPattern } from './id.ts'
import { placeFilters } from './project.ts'
import { Many, OneOf, PageQuery, StrictObject, Time, TimeInput } from './schema.ts'

export const keptDiskDays = 7
/** How long a snapshot is kept, and how many of a disk are: the oldest go first. */
export const keptSnapshotDays = 7
export const maxSnapshots = 10

/** What is being done with a disk; its service runs only while it is `available`. */
export const diskStatuses = ['creating', 'available', 'resizing', 'attaching', 'restoring', 'deleting'] as const
export type DiskStatus = (typeof diskStatuses)[number]

/** What a disk may have, in GiB: an ext4 file system of less than one has no room for much. */
export const minSizeGb = 1
export const maxSizeGb = 65_536

const GIB = 1024 ** 3

/** The bytes that a size in GiB comes to. */
export const bytesOf = (sizeGb: number): number => sizeGb * GIB

export const DiskName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$',
  description: 'Letters, digits, - and _, beginning with a letter or digit',
  examples: ['data'],
})
const MountPath = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Absolute path at which instances see the disk, such as below /var, /srv, /mnt or /opt',
  examples: ['/var/data'],
})
const SizeGb = Type.Integer({ minimum: minSizeGb, maximum: maxSizeGb, description: 'In GiB; it can grow, not shrink', examples: [10] })

export const DiskInput = StrictObject({ name: DiskName, mountPath: MountPath, sizeGB: Type.Optional(SizeGb) })
export type DiskInput = Static<typeof DiskInput>

/** What a disk has when nothing is said: as on Render. */
export const defaultSizeGb = 10

export const DiskCreate = StrictObject(
  { serviceId: Type.String({ maxLength: 64 }), name: DiskName, mountPath: MountPath, sizeGB: SizeGb },
  { examples: [{ serviceId: 'srv-0b1c2d3e4f5g6h7i8j9k', name: 'data', mountPath: '/var/data', sizeGB: 10 }] },
)
export type DiskCreate = Static<typeof DiskCreate>

export const DiskPatch = StrictObject(
  {
    name: Type.Optional(DiskName),
    mountPath: Type.Optional(MountPath),
    sizeGB: Type.Optional(SizeGb),
    serviceId: Type.Optional(
      Type.String({ maxLength: 64, description: 'Gives the kept disk of a deleted service to another one, which has none' }),
    ),
  },
  { examples: [{ sizeGB: 20 }] },
)
export type DiskPatch = Static<typeof DiskPatch>

export const ServiceDisk = Type.Object({
  id: Id('disk'),
  name: Type.String(),
  sizeGB: Type.Integer(),
  mountPath: Type.String(),
})
export type ServiceDisk = Static<typeof ServiceDisk>

export const Disk = Type.Object(
  {
    ...ServiceDisk.properties,
    serviceId: Type.String({ ...Id('service'), description: 'Its service, also when that is deleted and the disk is kept' }),
    environmentId: Type.Optional(
      Type.String({ ...Id('environment'), description: 'Where its service is, or was; absent where that is in none' }),
    ),
    status: OneOf(diskStatuses, 'While it is not available, no instance of its service runs'),
    createdAt: Time,
    updatedAt: Time,
    deletedAt: Type.Optional(Type.String({ ...Time, description: 'When its service was deleted' })),
    expiresAt: Type.Optional(Type.String({ ...Time, description: 'Until when the disk of a deleted service is kept' })),
  },
  { $id: 'Disk' },
)
export type Disk = Static<typeof Disk>

export const DiskQuery = Type.Object({
  ...PageQuery,
  diskId: Many(Type.String({ maxLength: 64 })),
  name: Many(Type.String({ maxLength: 200 })),
  serviceId: Many(Type.String({ maxLength: 64 })),
  ...placeFilters,
  ownerId: Many(Type.String({ maxLength: 64 })),
  createdBefore: Type.Optional(TimeInput),
  createdAfter: Type.Optional(TimeInput),
  updatedBefore: Type.Optional(TimeInput),
  updatedAfter: Type.Optional(TimeInput),
})
export type DiskQuery = Static<typeof DiskQuery>

export const snapshotOrigins = ['daily', 'manual', 'before_restore'] as const
export type SnapshotOrigin = (typeof snapshotOrigins)[number]
export const snapshotStatuses = ['creating', 'available', 'failed', 'deleting'] as const
export type SnapshotStatus = (typeof snapshotStatuses)[number]

const SnapshotKey = Type.String({ pattern: idPattern('diskSnapshot'), examples: ['snp-0b1c2d3e4f5g6h7i8j9k'] })

export const DiskSnapshot = Type.Object(
  {
    createdAt: Time,
    snapshotKey: SnapshotKey,
    status: OneOf(snapshotStatuses),
    origin: OneOf(snapshotOrigins),
    sizeBytes: Type.Optional(Type.Integer({ description: 'What it takes on the machine' })),
    reason: Type.Optional(Type.String({ description: 'Why it failed' })),
    expiresAt: Time,
  },
  { $id: 'DiskSnapshot' },
)
export type DiskSnapshot = Static<typeof DiskSnapshot>

export const RestoreBody = StrictObject(
  {
    snapshotKey: Type.String({ maxLength: 64 }),
    instanceId: Type.Optional(
      Type.String({ maxLength: 64, description: 'Taken for the sake of clients of Render: a disk has one instance' }),
    ),
  },
  { examples: [{ snapshotKey: 'snp-0b1c2d3e4f5g6h7i8j9k' }] },
)
export type RestoreBody = Static<typeof RestoreBody>
