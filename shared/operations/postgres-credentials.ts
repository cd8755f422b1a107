import { Type } from '@sinclair/typebox'
import { GroupChangeQuery } from '../env-group.ts'
import { defineOperations } from '../operation.ts'
import { maxCredentials, NewPostgresCredential, PostgresCredential, PostgresCredentialCreate } from '../postgres-credentials.ts'

const postgresId = Type.String({ description: 'Id of the database' })
const path = '/v1/postgres/:postgresId/credentials'
const common = { access: 'datastores.credentials', tag: 'Postgres' } as const

/** Users that a database is connected to as. */
export const postgresCredentialOperations = defineOperations({
  listPostgresCredentials: {
    ...common,
    method: 'GET',
    path,
    summary: 'List the users of a database, without their passwords',
    params: Type.Object({ postgresId }),
    responses: { 200: Type.Array(PostgresCredential) },
    errors: ['not_found'],
  },
  createPostgresCredential: {
    ...common,
    method: 'POST',
    path,
    inProtected: 'refused',
    summary: 'Give a database another user',
    description:
      'Connection strings name it from now on. It acts as the first user does, which owns all that either makes, and the others stay good: ' +
      `give the new one to all who connect, then delete the old one. Up to ${maxCredentials} users. The database has to run.`,
    params: Type.Object({ postgresId }),
    query: GroupChangeQuery,
    body: PostgresCredentialCreate,
    bodyOptional: true,
    responses: { 201: NewPostgresCredential },
    errors: ['not_found', 'conflict', 'unavailable'],
    changes: 'after_waiting',
  },
  deletePostgresCredential: {
    ...common,
    method: 'DELETE',
    path: '/v1/postgres/:postgresId/credentials/:username',
    inProtected: 'refused',
    summary: 'Take a user away from a database, and end its connections',
    description:
      'The one that connection strings name stays. The first user goes on owning what is in the database, and nobody can connect as it.',
    params: Type.Object({ postgresId, username: Type.String({ description: 'Name of the user' }) }),
    responses: { 204: null },
    errors: ['not_found', 'conflict'],
    changes: 'after_waiting',
  },
})
