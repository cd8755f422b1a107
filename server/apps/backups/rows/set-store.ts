import type { Database } from 'bun:sqlite'
import { type Static, Type } from '@sinclair/typebox'
import { maxmemoryPolicies, persistenceModes } from '../../../../shared/key-value.ts'
import { OneOf } from '../../../../shared/schema.ts'
import { flag, orNull } from '../../../platform/db/codec.ts'
import { json } from '../../../platform/db/json-column.ts'
import { tableOf } from '../../../platform/db/table.ts'
import type { DatastoreKind } from '../../datastores/store.ts'

/** A lineage that has ended, with its major version. `until` is when the next one began, in milliseconds since 1970. */
export const FormerLineage = Type.Object({ lineage: Type.Integer(), version: Type.String(), until: Type.Integer() })
export type FormerLineage = Static<typeof FormerLineage>

/** All backups of one datastore, which may be gone. Times are milliseconds since 1970. */
export interface BackupSet {
  datastoreId: string
  kind: DatastoreKind
  workspaceId: string
  environmentId: string | null
  name: string
  version: string
  lineage: number
  former: FormerLineage[]
  recipient: string
  recipe: Recipe
  problem: string | null
  copyProblem: string | null
  createdAt: number
  keptUntil: number | null
  isRemoving: boolean
  /** Up to when the log is known of a set that another installation has written, which stays at the bucket whatever becomes of it here; null for our own. */
  adoptedUntil: number | null
  drill: Drill | null
}

const common = { plan: Type.String(), sizeGb: Type.Integer() }

const PostgresRecipe = Type.Object({
  ...common,
  databaseName: Type.String(),
  databaseUser: Type.String(),
  parameterOverrides: Type.Record(Type.String(), Type.String()),
})
export type PostgresRecipe = Static<typeof PostgresRecipe>

const KeyValueRecipe = Type.Object({
  ...common,
  maxmemoryPolicy: OneOf(maxmemoryPolicies),
  persistenceMode: OneOf(persistenceModes),
})
export type KeyValueRecipe = Static<typeof KeyValueRecipe>

export const Recipe = Type.Union([PostgresRecipe, KeyValueRecipe])
/** What another datastore is made of from backups, apart from its content. */
export type Recipe = Static<typeof Recipe>

const Drill = Type.Object({ volumeId: Type.String(), number: Type.Integer(), backupId: Type.String() })
export type Drill = Static<typeof Drill>

const sets = tableOf<BackupSet>('backup_sets', {
  datastoreId: 'datastore_id',
  kind: 'kind',
  workspaceId: 'workspace_id',
  environmentId: 'environment_id',
  name: 'name',
  version: 'version',
  lineage: 'lineage',
  former: { column: 'former', as: json({ schema: Type.Array(FormerLineage) }) },
  recipient: 'recipient',
  recipe: { column: 'recipe', as: json({ schema: Recipe }) },
  problem: 'problem',
  copyProblem: 'copy_problem',
  createdAt: 'created_at',
  keptUntil: 'kept_until',
  isRemoving: { column: 'is_removing', as: flag },
  adoptedUntil: 'adopted_until',
  drill: { column: 'drill', as: orNull(json({ schema: Drill })) },
})

/** The backups of a datastore, there or gone; undefined where none were ever taken. */
export const backupSetOf = (db: Database, datastoreId: string): BackupSet | undefined =>
  sets.get(db, 'WHERE datastore_id = $datastoreId', { datastoreId })

/** What a database is made of. @throws Error for the set of another kind. */
export function postgresRecipe({ recipe }: Pick<BackupSet, 'recipe'>): PostgresRecipe {
  if ('databaseName' in recipe) return recipe
  throw new Error('These are not the backups of a database')
}

/** What a key-value store is made of. @throws Error for the set of another kind. */
export function keyValueRecipe({ recipe }: Pick<BackupSet, 'recipe'>): KeyValueRecipe {
  if ('maxmemoryPolicy' in recipe) return recipe
  throw new Error('These are not the backups of a key-value store')
}

/** All sets, those of datastores that are gone included. */
export const allBackupSets = (db: Database): BackupSet[] => sets.all(db, 'ORDER BY datastore_id')

/** Begins a set, unless there is one of this datastore. */
export function ensureBackupSet(
  db: Database,
  set: Omit<BackupSet, 'problem' | 'copyProblem' | 'keptUntil' | 'isRemoving' | 'drill' | 'adoptedUntil' | 'lineage' | 'former'> &
    Partial<Pick<BackupSet, 'lineage' | 'former'>>,
): void {
  sets.insert(db, set, 'ON CONFLICT DO NOTHING')
}

/** Whether a backup is being tried out on this volume. */
export const isDrillVolume = (db: Database, volumeId: string): boolean =>
  sets.get(db, "WHERE drill ->> 'volumeId' = $volumeId", { volumeId }) !== undefined

/** Whether a backup is being tried out. */
export const isTriedOut = (db: Database, backupId: string): boolean =>
  sets.get(db, "WHERE drill ->> 'backupId' = $backupId", { backupId }) !== undefined

/** Changes what is named. */
export function updateBackupSet(db: Database, datastoreId: string, change: Partial<Omit<BackupSet, 'datastoreId'>>): void {
  sets.update(db, { datastoreId }, change)
}

/** Forgets a set with all its rows, when nothing of it is left here and at the bucket. */
export function removeBackupSetRow(db: Database, datastoreId: string): void {
  sets.remove(db, { datastoreId })
}
