import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { DumpQuery, defaultMaxDumpBytes, PostgresExport, PostgresImport, PostgresImportBody } from '../postgres-transfer.ts'

const ofDatabase = { postgresId: Type.String({ description: 'Id of the database' }) }
const params = Type.Object(ofDatabase)
const exportParams = Type.Object({ ...ofDatabase, exportId: Type.String({ description: 'Id of the export' }) })
const importParams = Type.Object({ ...ofDatabase, importId: Type.String({ description: 'Id of the import' }) })
/** Whoever has the password of a database reads and writes all of it: an export and an import are no less. */
const common = { tag: 'Postgres', params, access: 'datastores.credentials', inProtected: 'refused', errors: ['not_found'] } as const

/** What leaves a database as a file, and what comes into one from elsewhere. */
export const postgresTransferOperations = defineOperations({
  listPostgresExports: {
    ...common,
    method: 'GET',
    path: '/v1/postgres/:postgresId/export',
    summary: 'List exports of a database, newest first',
    responses: { 200: Type.Array(PostgresExport) },
  },
  createPostgresExport: {
    ...common,
    method: 'POST',
    path: '/v1/postgres/:postgresId/export',
    summary: 'Export a database',
    description:
      'Answers at once; the list tells when it is complete, and where its file is downloaded from. That is a tar.gz of a directory ' +
      'dump, which `pg_restore` reads once it is unpacked. It is kept for 7 days, also when its database is deleted.',
    responses: { 202: PostgresExport },
    errors: ['not_found', 'conflict', 'unavailable'],
  },
  deletePostgresExport: {
    ...common,
    method: 'DELETE',
    path: '/v1/postgres/:postgresId/export/:exportId',
    params: exportParams,
    summary: 'Delete an export, or stop one that is being made',
    responses: { 204: null },
  },
  downloadPostgresExport: {
    ...common,
    method: 'GET',
    path: '/v1/postgres/:postgresId/export/:exportId/file',
    params: exportParams,
    summary: 'Download an export',
    description: 'Takes `Range` and `If-Range`, so that a download goes on where it was cut off. The audit log tells who downloaded.',
    responses: { 200: Type.String() },
    errors: ['not_found', 'conflict'],
    plain: 'application/gzip',
    changes: 'after_waiting',
  },
  listPostgresImports: {
    ...common,
    method: 'GET',
    path: '/v1/postgres/:postgresId/import',
    summary: 'List imports of the last days into a database, newest first',
    responses: { 200: Type.Array(PostgresImport) },
  },
  startPostgresImport: {
    ...common,
    method: 'POST',
    path: '/v1/postgres/:postgresId/import',
    summary: 'Import another database',
    description:
      'Reads all of the other database and writes it in one transaction: it is in this one with all that is in it, or nothing is. ' +
      'What it makes belongs to the first user of this database.',
    body: PostgresImportBody,
    responses: { 202: PostgresImport },
    errors: ['not_found', 'conflict', 'unavailable'],
  },
  uploadPostgresDump: {
    ...common,
    method: 'POST',
    path: '/v1/postgres/:postgresId/import/upload',
    summary: 'Import a dump',
    description:
      'What `pg_dump` makes, as the raw body: custom format, tar format, a directory as tar, or SQL, each also as gzip or zstd. ' +
      'It is imported in one transaction. SQL may hold no commands of psql.',
    query: DumpQuery,
    stream: {
      contentTypes: [
        'application/octet-stream',
        'application/gzip',
        'application/zstd',
        'application/x-tar',
        'application/sql',
        'text/plain',
      ],
      maxBytes: defaultMaxDumpBytes,
      description: 'CP_IMPORT_MAX_MB',
    },
    responses: { 202: PostgresImport },
    errors: ['not_found', 'conflict', 'payload_too_large', 'unavailable'],
    changes: 'after_waiting',
  },
  getPostgresImport: {
    ...common,
    method: 'GET',
    path: '/v1/postgres/:postgresId/import/:importId',
    params: importParams,
    summary: 'One import',
    responses: { 200: PostgresImport },
  },
  cancelPostgresImport: {
    ...common,
    method: 'POST',
    path: '/v1/postgres/:postgresId/import/:importId/cancel',
    params: importParams,
    summary: 'Stop an import, of which nothing stays',
    responses: { 202: PostgresImport },
    errors: ['not_found', 'conflict'],
  },
})
