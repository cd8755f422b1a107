import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { keyValuePlanNames } from './key-value.ts'
import { OneOf, PageQuery, StrictObject, Time, TimeInput, Unsupported } from './schema.ts'
import { ServiceName } from './service.ts'

const backupStatuses = ['creating', 'available', 'failed', 'damaged'] as const

export const Backup = Type.Object(
  {
    id: Id('backup'),
    kind: OneOf(['full', 'incremental'], 'incremental: only the difference to the backup before'),
    origin: OneOf(['scheduled', 'manual', 'final'], 'final: taken when its database or store was deleted'),
    status: OneOf(backupStatuses),
    createdAt: Time,
    completedAt: Type.Optional(Type.String({ format: 'date-time', description: 'From this moment on it can be recovered to' })),
    parentId: Type.Optional(Type.String({ description: 'The backup that it is the difference to' })),
    sizeBytes: Type.Optional(Type.Integer({ description: 'Before it is packed' })),
    verifiedAt: Type.Optional(Type.String({ format: 'date-time', description: 'When every file of it was compared with its manifest' })),
    restoredAt: Type.Optional(Type.String({ format: 'date-time', description: 'When it was restored to see that it can be' })),
    restoreSeconds: Type.Optional(Type.Number({ description: 'How long that took' })),
    version: Type.Optional(Type.String({ description: 'Major version of the database that a recovery of it makes' })),
    reason: Type.Optional(Type.String({ description: 'Why it failed or what is damaged' })),
  },
  { $id: 'Backup' },
)
export type Backup = Static<typeof Backup>

export const BackupQuery = Type.Object({ ...PageQuery })

export const Recovery = Type.Object(
  {
    recoveryStatus: OneOf(['AVAILABLE', 'BACKUP_NOT_READY', 'NOT_AVAILABLE'], 'BACKUP_NOT_READY: the first backup is not complete yet'),
    startsAt: Type.Optional(Type.String({ format: 'date-time', description: 'The earliest moment that can be recovered to' })),
    endsAt: Type.Optional(Type.String({ format: 'date-time', description: 'The latest; later than now for nobody' })),
    windows: Type.Array(
      Type.Object({ startsAt: Time, endsAt: Time, version: Type.String({ description: 'Major version that it was of then' }) }),
      {
        description: 'Oldest first; several where the log has a gap, and where it was brought to another version',
      },
    ),
    problem: Type.Optional(Type.String({ description: 'Why its log is not streamed, or does not come to the bucket, at the moment' })),
  },
  { $id: 'Recovery' },
)
export type Recovery = Static<typeof Recovery>

export const RecoveryBody = StrictObject(
  {
    restoreTime: Type.Optional(TimeInput),
    backupId: Type.Optional(Type.String({ maxLength: 64, description: 'What this backup holds, in place of a moment' })),
    restoreName: Type.Optional(ServiceName),
    name: Type.Optional(ServiceName),
    plan: Type.Optional(Type.String({ maxLength: 64, description: 'Default: that of the original' })),
    environmentId: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
    datadogApiKey: Unsupported(),
  },
  { examples: [{ restoreTime: '2026-11-20T10:15:00Z', name: 'shop-recovered' }] },
)
export type RecoveryBody = Static<typeof RecoveryBody>

export const KeyValueRecoveryBody = StrictObject(
  {
    backupId: Type.Optional(Type.String({ maxLength: 64, description: 'Default: the newest that is complete' })),
    name: Type.Optional(ServiceName),
    plan: Type.Optional(OneOf(keyValuePlanNames, 'Default: that of the original')),
    environmentId: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
  },
  { examples: [{ name: 'cache-recovered' }] },
)
export type KeyValueRecoveryBody = Static<typeof KeyValueRecoveryBody>
