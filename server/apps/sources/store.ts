import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { Source } from '../../../shared/deploy.ts'
import type { ArchiveFormat } from '../../platform/archives/archive.ts'
import { tableOf } from '../../platform/db/table.ts'
import { type Paths, servicePathsOf } from '../../platform/paths.ts'

export interface StoredSource extends Source {
  serviceId: string
  format: ArchiveFormat
  createdAt: number
}

const sources = tableOf<StoredSource>('sources', {
  id: 'id',
  serviceId: 'service_id',
  sha256: 'sha256',
  format: 'format',
  sizeBytes: 'size_bytes',
  fileCount: 'file_count',
  createdAt: 'created_at',
})

/** Where the archive of a source stands. */
export const sourceFile = (paths: Paths, source: Pick<StoredSource, 'id' | 'serviceId' | 'format'>): string =>
  join(servicePathsOf(paths, source.serviceId).sources, `${source.id}.${source.format}`)

/** Adds a source whose archive is in its place. */
export function insertSource(db: Database, source: StoredSource): void {
  sources.insert(db, source)
}

/** A source of this service; undefined where it has none of this id. */
export const findSource = (db: Database, serviceId: string, id: string): StoredSource | undefined =>
  sources.get(db, 'WHERE service_id = $serviceId AND id = $id', { serviceId, id })

/** A source by its id, whichever service it is of. */
export const sourceById = (db: Database, id: string): StoredSource | undefined => sources.get(db, 'WHERE id = $id', { id })

/** The newest source of a service that is kept. */
export const latestSource = (db: Database, serviceId: string): StoredSource | undefined =>
  sources.get(db, 'WHERE service_id = $serviceId ORDER BY id DESC LIMIT 1', { serviceId })

/** All sources of a service that are kept, newest first. */
export const listSources = (db: Database, serviceId: string): StoredSource[] =>
  sources.all(db, 'WHERE service_id = $serviceId ORDER BY id DESC', { serviceId })

/** Forgets a source; its files are left to the pruner. */
export function deleteSource(db: Database, id: string): void {
  sources.remove(db, { id })
}
