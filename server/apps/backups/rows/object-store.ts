import type { Database } from 'bun:sqlite'
import { flag } from '../../../platform/db/codec.ts'
import { type Bindings, tableOf } from '../../../platform/db/table.ts'

/** A packed file. `name` is relative to its datastore: `wal/<segment>`, `bak-…/base.tar`. Times are milliseconds since 1970. */
export interface BackupObject {
  datastoreId: string
  name: string
  digest: string
  plainBytes: number
  packedBytes: number
  createdAt: number
  uploadedAt: number | null
  isLocal: boolean
  isRemoving: boolean
}

const objects = tableOf<BackupObject>('backup_objects', {
  datastoreId: 'datastore_id',
  name: 'name',
  digest: 'digest',
  plainBytes: 'plain_bytes',
  packedBytes: 'packed_bytes',
  createdAt: 'created_at',
  uploadedAt: 'uploaded_at',
  isLocal: { column: 'is_local', as: flag },
  isRemoving: { column: 'is_removing', as: flag },
})

/** What a set consists of whose names begin so, by name, without what is being removed. */
export const objectsOf = (db: Database, datastoreId: string, beginning = ''): BackupObject[] =>
  objects.all(db, 'WHERE datastore_id = $datastoreId AND name >= $from AND name < $to AND is_removing = 0 ORDER BY name, created_at', {
    datastoreId,
    from: beginning,
    to: `${beginning}\u{10FFFF}`,
  })

/** Beginning of the names of the log of a lineage in the repository. */
export const walIn = (lineage: number): string => (lineage === 0 ? 'wal/' : `wal-${lineage}/`)

/** Beginning of the names of what there is of a segment that is not whole. */
export const begunIn = (lineage: number): string => (lineage === 0 ? 'wal-begun/' : `wal-begun-${lineage}/`)

/** The log of one lineage of a database. */
export interface StoredLog {
  datastoreId: string
  lineage: number
}

const SEGMENT_CHARS = 24
const TIMELINE_CHARS = 8

/** The sign after a slash ends what begins with the names of a log. */
const LOG = "datastore_id = $datastoreId AND name >= $log AND name < rtrim($log, '/') || '0' AND is_removing = 0"
const SEGMENTS = `${LOG} AND length(name) = length($log) + ${SEGMENT_CHARS}`
const FILE = 'substr(name, length($log) + 1)'
const PLACE = `substr(name, length($log) + ${1 + TIMELINE_CHARS})`

const bindingsOf = ({ datastoreId, lineage }: StoredLog) => ({ datastoreId, log: walIn(lineage) })

/** Segments of a stored log with the moments of their last writes, in no order. A week of a busy database has a hundred thousand: nothing else of them is read. */
export const storedSegments = (db: Database, log: StoredLog): { segment: string; createdAt: number }[] =>
  db
    .query<{ segment: string; createdAt: number }, [Bindings]>(
      `SELECT ${FILE} AS segment, created_at AS createdAt FROM backup_objects WHERE ${SEGMENTS}`,
    )
    .all(bindingsOf(log))

/** Segments of a stored log whose names, without their time line, lie between two, which are of it. */
export const segmentsBetween = (db: Database, log: StoredLog, [first, last]: readonly [string, string]): string[] =>
  db
    .query<{ segment: string }, [Bindings]>(
      `SELECT ${FILE} AS segment FROM backup_objects WHERE ${SEGMENTS} AND ${PLACE} BETWEEN $first AND $last`,
    )
    .all({ ...bindingsOf(log), first, last })
    .map(({ segment }) => segment)

/** Segments of a log, whatever their time line, that come before a place in it. */
export const segmentsBefore = (db: Database, log: StoredLog, place: string): BackupObject[] =>
  objects.all(db, `WHERE ${SEGMENTS} AND ${PLACE} < $place ORDER BY name`, { ...bindingsOf(log), place })

/** The last name of a stored log, which is of its newest time line; undefined where nothing of it is stored. */
export const lastOfLog = (db: Database, log: StoredLog): string | undefined =>
  db.query<{ name: string | null }, [Bindings]>(`SELECT max(${FILE}) AS name FROM backup_objects WHERE ${LOG}`).get(bindingsOf(log))
    ?.name ?? undefined

/** The newest object of this name; undefined where there is none. */
export const findObject = (db: Database, datastoreId: string, name: string): BackupObject | undefined =>
  objects.get(db, 'WHERE datastore_id = $datastoreId AND name = $name AND is_removing = 0 ORDER BY created_at DESC', { datastoreId, name })

/** Writes down a file that is whole. One that is there already stays as it is; one that was being removed may be gone from the bucket. */
export function insertObject(db: Database, object: Omit<BackupObject, 'uploadedAt' | 'isLocal' | 'isRemoving'>): void {
  objects.insert(db, object, 'ON CONFLICT DO UPDATE SET is_local = 1, uploaded_at = iif(is_removing, NULL, uploaded_at), is_removing = 0')
}

type Key = Pick<BackupObject, 'datastoreId' | 'name' | 'digest'>
const keyOf = ({ datastoreId, name, digest }: Key): Key => ({ datastoreId, name, digest })

/** Changes what is named. */
export function updateObject(
  db: Database,
  object: Key,
  change: Partial<Pick<BackupObject, 'uploadedAt' | 'isLocal' | 'isRemoving'>>,
): void {
  objects.update(db, keyOf(object), change)
}

/** Forgets a file that is neither here nor at the bucket any more. */
export function removeObjectRow(db: Database, object: Key): void {
  objects.remove(db, keyOf(object))
}

const WAITING = 'WHERE uploaded_at IS NULL AND is_local = 1 AND is_removing = 0'

/** The log of one datastore that waits for the bucket, oldest first: it waits for no backup of any. */
export const logToUpload = (db: Database, datastoreId: string, limit: number): BackupObject[] =>
  objects.all(db, `${WAITING} AND datastore_id = $datastoreId AND name GLOB 'wal*' ORDER BY created_at LIMIT $limit`, {
    datastoreId,
    limit,
  })

/** What waits for it beside logs, of all datastores, oldest first. */
export const backupsToUpload = (db: Database, limit: number): BackupObject[] =>
  objects.all(db, `${WAITING} AND name NOT GLOB 'wal*' ORDER BY created_at LIMIT $limit`, { limit })

/** What is to go, of all sets. */
export const objectsToRemove = (db: Database, limit: number): BackupObject[] =>
  objects.all(db, 'WHERE is_removing = 1 LIMIT $limit', { limit })

/** Whether something of a set is still to go from the bucket. */
export const isBeingRemoved = (db: Database, datastoreId: string): boolean =>
  objects.get(db, 'WHERE datastore_id = $datastoreId AND is_removing = 1', { datastoreId }) !== undefined

/** Since when what waits for the bucket of a set has waited (ms since 1970); undefined where nothing does. */
export const waitingSince = (db: Database, datastoreId: string): number | undefined =>
  db
    .query<{ since: number | null }, [string]>(`SELECT min(created_at) AS since FROM backup_objects ${WAITING} AND datastore_id = ?`)
    .get(datastoreId)?.since ?? undefined

/** Changes whenever other files of a set are at the bucket than before. */
export const uploadedMark = (db: Database, datastoreId: string): string =>
  db
    .query<{ mark: string }, [string]>(
      `SELECT format('%d %d %d', count(*), count(uploaded_at), max(uploaded_at)) AS mark FROM backup_objects
       WHERE datastore_id = ? AND is_removing = 0`,
    )
    .get(datastoreId)?.mark ?? ''

/** Whether a file is one that there is, and stays. */
export const isKept = (db: Database, object: Key): boolean =>
  objects.get(db, 'WHERE datastore_id = $datastoreId AND name = $name AND digest = $digest AND is_removing = 0', { ...keyOf(object) }) !==
  undefined
