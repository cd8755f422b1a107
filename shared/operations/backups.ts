import { Type } from '@sinclair/typebox'
import { Backup, BackupQuery, KeyValueRecoveryBody, Recovery, RecoveryBody } from '../backup.ts'
import { KeyValue } from '../key-value.ts'
import { defineOperations } from '../operation.ts'
import { Postgres } from '../postgres.ts'
import { PageOf } from '../schema.ts'

const params = Type.Object({ postgresId: Type.String({ description: 'Id of the database, or of one that was deleted in the last days' }) })
const common = { tag: 'Postgres', params, errors: ['not_found'] } as const
const ofStores = {
  tag: 'Key value',
  params: Type.Object({ keyValueId: Type.String({ description: 'Id of the store, or of one that was deleted in the last days' }) }),
  errors: ['not_found'],
} as const

/** Backups of databases and key-value stores, which outlive them for a while, and what is made of them. */
export const backupOperations = defineOperations({
  listPostgresBackups: {
    ...common,
    method: 'GET',
    path: '/v1/postgres/:postgresId/backups',
    access: 'datastores.read',
    summary: 'List backups of a database, newest first',
    query: BackupQuery,
    responses: { 200: PageOf('backup', Backup) },
  },
  createPostgresBackup: {
    ...common,
    method: 'POST',
    path: '/v1/postgres/:postgresId/backups',
    access: 'datastores.backups',
    summary: 'Take a full backup of a database now',
    description:
      'Answers at once; `status` in the list tells when it is there. Everything between two backups can be recovered to as well.',
    responses: { 201: Backup },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  getPostgresRecovery: {
    ...common,
    method: 'GET',
    path: '/v1/postgres/:postgresId/recovery',
    access: 'datastores.read',
    summary: 'What moments a database can be recovered to',
    responses: { 200: Recovery },
  },
  startPostgresRecovery: {
    ...common,
    method: 'POST',
    path: '/v1/postgres/:postgresId/recovery',
    access: 'datastores.backups',
    inProtected: 'refused',
    summary: 'Make a new database of what a database was at a moment',
    description:
      'Without a moment and without a backup: of the last that is known, which is all that was committed. The original stays as it is. ' +
      'Its first user gets a new password; it is `recovery_in_progress` until it can be connected to.',
    body: RecoveryBody,
    responses: { 201: Postgres },
    errors: ['not_found', 'conflict', 'unavailable', 'not_configured'],
    creates: true,
  },
  listKeyValueBackups: {
    ...ofStores,
    method: 'GET',
    path: '/v1/key-value/:keyValueId/backups',
    access: 'datastores.read',
    summary: 'List backups of a key-value store, newest first',
    query: BackupQuery,
    responses: { 200: PageOf('backup', Backup) },
  },
  createKeyValueBackup: {
    ...ofStores,
    method: 'POST',
    path: '/v1/key-value/:keyValueId/backups',
    access: 'datastores.backups',
    summary: 'Take a backup of a key-value store now',
    description: 'Answers at once; `status` in the list tells when it is there. It holds what the store held at one moment.',
    responses: { 201: Backup },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  startKeyValueRecovery: {
    ...ofStores,
    method: 'POST',
    path: '/v1/key-value/:keyValueId/recovery',
    access: 'datastores.backups',
    inProtected: 'refused',
    summary: 'Make a new key-value store of what a backup holds',
    description:
      'The original stays as it is. The new one has a password of its own; it is `recovery_in_progress` until it can be connected to. ' +
      'Keys that have expired since the backup are not in it.',
    body: KeyValueRecoveryBody,
    bodyOptional: true,
    responses: { 201: KeyValue },
    errors: ['not_found', 'conflict', 'unavailable', 'not_configured'],
    creates: true,
  },
})
