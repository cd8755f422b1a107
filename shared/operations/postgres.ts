import { Type } from '@sinclair/typebox'
import { ForceDeletion } from '../datastore.ts'
import { defineOperations } from '../operation.ts'
import { Postgres, PostgresConnectionInfo, PostgresCreate, PostgresPatch, PostgresQuery } from '../postgres.ts'
import { PageOf } from '../schema.ts'

const params = Type.Object({ postgresId: Type.String({ description: 'Id of the database' }) })
const common = { tag: 'Postgres', params, errors: ['not_found'] } as const
const change = {
  ...common,
  method: 'POST',
  access: 'datastores.update',
  responses: { 202: null },
  errors: ['not_found', 'conflict'],
} as const

/** Databases, each a server of its own with a disk of its own. */
export const postgresOperations = defineOperations({
  listPostgres: {
    method: 'GET',
    path: '/v1/postgres',
    access: 'datastores.read',
    tag: 'Postgres',
    summary: 'List databases',
    query: PostgresQuery,
    responses: { 200: PageOf('postgres', Postgres) },
  },
  createPostgres: {
    method: 'POST',
    path: '/v1/postgres',
    access: 'datastores.create',
    tag: 'Postgres',
    summary: 'Make a database',
    description: 'Answers at once; `status` is `available` when it can be connected to, mostly within a second.',
    body: PostgresCreate,
    responses: { 201: Postgres },
    errors: ['not_found', 'conflict', 'not_configured', 'unavailable'],
    creates: true,
  },
  getPostgres: {
    ...common,
    method: 'GET',
    path: '/v1/postgres/:postgresId',
    access: 'datastores.read',
    summary: 'One database',
    responses: { 200: Postgres },
  },
  updatePostgres: {
    ...common,
    method: 'PATCH',
    path: '/v1/postgres/:postgresId',
    access: 'datastores.update',
    inProtected: 'depends',
    changes: 'after_waiting',
    summary: 'Change a database',
    description:
      'Another plan or other parameters restart it, which takes a moment. A larger disk is in force at once where this server can grow one in use, ' +
      'and otherwise after such a moment. Another major version takes seconds to minutes.',
    body: PostgresPatch,
    responses: { 200: Postgres },
    errors: ['not_found', 'conflict', 'not_configured', 'unavailable'],
  },
  deletePostgres: {
    ...common,
    method: 'DELETE',
    path: '/v1/postgres/:postgresId',
    access: 'datastores.delete',
    inProtected: 'refused',
    summary: 'Delete a database with all that is in it',
    query: ForceDeletion,
    responses: { 204: null },
    errors: ['not_found', 'conflict'],
  },
  suspendPostgres: {
    ...change,
    path: '/v1/postgres/:postgresId/suspend',
    inProtected: 'refused',
    summary: 'Stop a database and keep what is in it',
  },
  resumePostgres: { ...change, path: '/v1/postgres/:postgresId/resume', summary: 'Start a database that was suspended' },
  failoverPostgres: {
    ...change,
    path: '/v1/postgres/:postgresId/failover',
    summary: 'Have the standby of a database take its place',
    description: 'Takes a moment, in which nobody can connect. Names, users, addresses and backups stay; read replicas are made anew.',
  },
  rollBackPostgres: {
    ...change,
    path: '/v1/postgres/:postgresId/rollback',
    inProtected: 'refused',
    changes: 'after_waiting',
    summary: 'Take an upgrade of a database back',
    description:
      'Has it be what it was before it was brought to another major version, up to a day later. All that was written since is lost, but for what its backups hold. ' +
      'Read replicas are made anew.',
    errors: ['not_found', 'conflict', 'unavailable'],
  },
  confirmUpgradedPostgres: {
    ...change,
    path: '/v1/postgres/:postgresId/confirm-upgrade',
    inProtected: 'refused',
    summary: 'Give up the way back of an upgrade',
    description:
      'What the database was before it was brought to another major version is kept for a day. This frees its room on the disk of the server at once.',
  },
  restartPostgres: { ...change, path: '/v1/postgres/:postgresId/restart', summary: 'Restart a database' },
  getPostgresConnectionInfo: {
    ...common,
    method: 'GET',
    path: '/v1/postgres/:postgresId/connection-info',
    access: 'datastores.credentials',
    inProtected: 'refused',
    summary: 'How to connect to a database, password included',
    responses: { 200: PostgresConnectionInfo },
  },
})
