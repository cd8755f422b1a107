import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { OneOf, StrictObject, Time } from './schema.ts'

const transferStatuses = ['waiting', 'running', 'succeeded', 'failed', 'canceled'] as const
export type TransferStatus = (typeof transferStatuses)[number]

/** How long the file of an export is kept, in days. */
export const exportKeptDays = 7
/** Exports of one database that are kept at a time. */
export const mostExports = 5

const MIB = 1024 * 1024
/** Largest dump that is taken as an upload, in bytes, unless CP_IMPORT_MAX_MB says otherwise. */
export const defaultMaxDumpBytes = 51_200 * MIB

const Optional = (description: string) => Type.Optional(Type.String({ description }))

const Progress = Type.Object({
  phase: Type.String({ examples: ['reading', 'packing'] }),
  tables: Type.Integer({ description: 'Tables that were begun' }),
  table: Optional('The one that was begun last'),
  bytes: Type.Integer({ description: 'What has gone between the tools and the database' }),
})
export type TransferProgress = Static<typeof Progress>

const common = {
  status: OneOf(transferStatuses, 'succeeded: all of it is done; failed and canceled: nothing is left of it'),
  createdAt: Time,
  startedAt: Type.Optional(Type.String({ format: 'date-time' })),
  completedAt: Type.Optional(Type.String({ format: 'date-time' })),
  progress: Type.Optional(Progress),
  reason: Optional('Why it failed, and what can be done'),
}

export const PostgresExport = Type.Object(
  {
    id: Id('postgresExport'),
    ...common,
    sizeBytes: Type.Optional(Type.Integer()),
    sha256: Optional('Of the file'),
    url: Optional('Where the file is downloaded from, with the credential of any other request'),
    expiresAt: Type.Optional(Type.String({ format: 'date-time', description: 'When the file is removed' })),
  },
  { $id: 'PostgresExport' },
)
export type PostgresExport = Static<typeof PostgresExport>

const sources = ['upload', 'database'] as const

export const PostgresImport = Type.Object(
  {
    id: Id('postgresImport'),
    ...common,
    source: OneOf(sources),
    host: Optional('Of the other database'),
    clean: Type.Boolean({ description: 'Whether what is in the way is dropped first' }),
    skipped: Type.Array(Type.String(), { description: 'What was left out, as this database cannot have it' }),
  },
  { $id: 'PostgresImport' },
)
export type PostgresImport = Static<typeof PostgresImport>

export const PostgresImportBody = StrictObject(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'Connection string of the other database, as its provider gives it: it is read from, and never changed',
      'x-secret': true,
    }),
    clean: Type.Optional(Type.Boolean({ description: 'Drop what is in the way first; default: fail' })),
  },
  { examples: [{ url: 'postgresql://user:password@db.example.com:5432/shop?sslmode=require' }] },
)
export type PostgresImportBody = Static<typeof PostgresImportBody>

export const DumpQuery = Type.Object({
  clean: Type.Optional(OneOf(['true', 'false'], 'true: drop what is in the way first; default: fail')),
})
