import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { Source } from '../../../shared/deploy.ts'
import type { ArchiveFormat } from '../../platform/archives/archive.ts'
import { tableOf } from '../../platform/db/table.ts'
import { type Paths, servicePathsOf } from '../../platform/paths.ts'

/** A commit as rows have it, null where it is not known. Times are milliseconds since 1970. */
export interface StoredCommit {
  commitId: string | null
  commitMessage: string | null
  commitAuthor: string | null
  committedAt: number | null
}

export interface StoredSource extends Source, StoredCommit {
  serviceId: string
  format: ArchiveFormat
  createdAt: number
  /** What the commit was fetched from, and how; null for an upload. */
  repository: string | null
}

/** The commit of a row alone. */
export const commitOf = ({ commitId, commitMessage, commitAuthor, committedAt }: StoredCommit): StoredCommit => ({
  commitId,
  commitMessage,
  commitAuthor,
  committedAt,
})

export const noCommit = { repository: null, commitId: null, commitMessage: null, commitAuthor: null, committedAt: null }

export type NewSource = Omit<StoredSource, OfCommit> & Partial<Pick<StoredSource, OfCommit>>
type OfCommit = keyof StoredCommit | 'repository'

export const commitColumns = {
  commitId: 'commit_id',
  commitMessage: 'commit_message',
  commitAuthor: 'commit_author',
  committedAt: 'committed_at',
} as const

const sources = tableOf<StoredSource>('sources', {
  id: 'id',
  serviceId: 'service_id',
  sha256: 'sha256',
  format: 'format',
  sizeBytes: 'size_bytes',
  fileCount: 'file_count',
  createdAt: 'created_at',
  repository: 'repository',
  ...commitColumns,
})

/** Where the archive of a source stands. */
export const sourceFile = (paths: Paths, source: Pick<StoredSource, 'id' | 'serviceId' | 'format'>): string =>
  join(servicePathsOf(paths, source.serviceId).sources, `${source.id}.${source.format}`)

/** Adds a source whose archive is in its place. */
export function insertSource(db: Database, source: NewSource): void {
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

/** The source that was made of this commit; undefined where it was not, or is no longer kept. */
export const sourceOfCommit = (
  db: Database,
  serviceId: string,
  commit: { repository: string; commitId: string },
): StoredSource | undefined =>
  sources.get(db, 'WHERE service_id = $serviceId AND commit_id = $commitId AND repository = $repository ORDER BY id DESC LIMIT 1', {
    serviceId,
    ...commit,
  })

/** All sources of a service that are kept, newest first. */
export const listSources = (db: Database, serviceId: string): StoredSource[] =>
  sources.all(db, 'WHERE service_id = $serviceId ORDER BY id DESC', { serviceId })

/** Forgets a source; its files are left to the pruner. */
export function deleteSource(db: Database, id: string): void {
  sources.remove(db, { id })
}
