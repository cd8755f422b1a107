import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { Source } from '../../../shared/deploy.ts'
import { type Paths, servicePathsOf } from '../../platform/paths.ts'
import type { ArchiveFormat } from './extract/archive.ts'

export interface StoredSource extends Source {
  serviceId: string
  format: ArchiveFormat
  createdAt: number
}

interface SourceRow {
  id: string
  service_id: string
  sha256: string
  format: ArchiveFormat
  size_bytes: number
  file_count: number
  created_at: number
}

/** The archive of a source on disk. */
export const sourceFile = (paths: Paths, source: Pick<StoredSource, 'id' | 'serviceId' | 'format'>): string =>
  join(servicePathsOf(paths, source.serviceId).sources, `${source.id}.${source.format}`)

/** Adds a source whose files are in place already. */
export function insertSource(db: Database, source: StoredSource): void {
  db.query(
    `INSERT INTO sources (id, service_id, sha256, format, size_bytes, file_count, created_at)
     VALUES ($id, $serviceId, $sha256, $format, $sizeBytes, $fileCount, $createdAt)`,
  ).run({ ...source })
}

/** A source of this service, or undefined. */
export function findSource(db: Database, serviceId: string, id: string): StoredSource | undefined {
  return one(db.query<SourceRow, [string, string]>('SELECT * FROM sources WHERE service_id = ? AND id = ?').get(serviceId, id))
}

/** The source uploaded last. */
export function latestSource(db: Database, serviceId: string): StoredSource | undefined {
  return one(db.query<SourceRow, [string]>('SELECT * FROM sources WHERE service_id = ? ORDER BY id DESC LIMIT 1').get(serviceId))
}

/** All sources of a service that are kept, newest first. */
export function listSources(db: Database, serviceId: string): StoredSource[] {
  return db.query<SourceRow, [string]>('SELECT * FROM sources WHERE service_id = ? ORDER BY id DESC').all(serviceId).map(present)
}

/** Forgets a source. Its files are the pruner's. */
export function deleteSource(db: Database, id: string): void {
  db.query('DELETE FROM sources WHERE id = ?').run(id)
}

const one = (row: SourceRow | null): StoredSource | undefined => (row === null ? undefined : present(row))

const present = (row: SourceRow): StoredSource => ({
  id: row.id,
  serviceId: row.service_id,
  sha256: row.sha256,
  format: row.format,
  sizeBytes: row.size_bytes,
  fileCount: row.file_count,
  createdAt: row.created_at,
})
