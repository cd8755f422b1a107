import { writeFileSync } from 'node:fs'
import { insertTransfer, type TransferKind, updateTransfer } from '../../server/apps/transfers/rows/store.ts'
import { fileOf } from '../../server/apps/transfers/work/folders.ts'
import { newId } from '../../server/platform/id.ts'
import type { TestServer } from './server.ts'

const FIRST_NUMBER = 50_000
let count = 0

/** Adds an export or import straight in the database of the server. One that is said to have succeeded has a file. */
export function addTransfer(
  { db, context: { paths } }: Pick<TestServer, 'db' | 'context'>,
  { workspaceId, datastoreId, kind, file }: { workspaceId: string; datastoreId: string; kind: TransferKind; file?: string },
): string {
  const id = newId(kind === 'export' ? 'postgresExport' : 'postgresImport')
  const createdAt = Date.now()
  insertTransfer(db, { id, kind, datastoreId, workspaceId, environmentId: null, number: FIRST_NUMBER + ++count, createdAt })
  if (file === undefined) return id
  writeFileSync(fileOf(paths, { id }), file)
  updateTransfer(db, id, { status: 'succeeded', completedAt: createdAt, sizeBytes: file.length, sha256: '0'.repeat(64) })
  return id
}
