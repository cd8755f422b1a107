import type { Database } from 'bun:sqlite'
import { texts } from '../../../platform/db/json-column.ts'
import { type Bindings, tableOf } from '../../../platform/db/table.ts'
import type { EnvEntry, SecretRows } from '../../services/env-store.ts'

/** A group without its secrets. Times are milliseconds since 1970. */
export interface StoredGroup {
  id: string
  workspaceId: string
  /** Where it can be linked: in this environment, in all of this project, or anywhere when both are null. */
  environmentId: string | null
  projectId: string | null
  name: string
  createdAt: number
  updatedAt: number
}

interface GroupRow extends StoredGroup {
  sealed: string
  datastoreIds: string[]
}

const columns = {
  id: 'id',
  workspaceId: 'workspace_id',
  environmentId: 'environment_id',
  projectId: 'project_id',
  name: 'name',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const

const groups = tableOf<StoredGroup>('env_groups', columns)
const sealedGroups = tableOf<GroupRow>('env_groups', {
  ...columns,
  sealed: 'vars_sealed',
  datastoreIds: { column: 'datastore_ids', as: texts },
})

const purpose = (groupId: string): string => `env group ${groupId}`

/** The variables in a sealed text that stands in the row of this group, in clear and by key. */
export const openVariables = ({ sealer }: Pick<SecretRows, 'sealer'>, groupId: string, sealed: string): EnvEntry[] =>
  entriesIn(sealer.open(sealed, purpose(groupId)), groupId)

/** Checked by hand: a schema takes longer than all the rest, for a text that nobody but this file has made. */
function entriesIn(text: string, groupId: string): EnvEntry[] {
  const entries: unknown = JSON.parse(text)
  if (!Array.isArray(entries) || !entries.every(isEntry)) throw new Error(`The variables of ${groupId} cannot be read`)
  return entries
}

const isEntry = (value: Partial<EnvEntry> | null): boolean => typeof value?.key === 'string' && typeof value.value === 'string'

const sealVariables = ({ sealer }: SecretRows, groupId: string, entries: readonly EnvEntry[]): string =>
  sealer.seal(JSON.stringify(entries.toSorted((one, other) => (one.key < other.key ? -1 : 1))), purpose(groupId))

const variablesOf = (rows: SecretRows, groupId: string, entries: readonly EnvEntry[]) => ({
  sealed: sealVariables(rows, groupId, entries),
  datastoreIds: datastoresIn(entries),
})

const datastoresIn = (entries: readonly EnvEntry[]): string[] => [...new Set(entries.flatMap(({ from }) => from?.datastoreId ?? []))]

/** One group of a workspace, or undefined when it has none of this id. */
export const findGroup = (db: Database, workspaceId: string, id: string): StoredGroup | undefined =>
  groups.get(db, 'WHERE id = $id AND workspace_id = $workspaceId', { id, workspaceId })

/** Whether another group of the workspace than `exceptId` has this name. Belongs in the transaction that takes it. */
export const isGroupNameTaken = (
  db: Database,
  workspaceId: string,
  { name, exceptId = '' }: { name: string; exceptId?: string },
): boolean =>
  groups.get(db, 'WHERE workspace_id = $workspaceId AND name = $name AND id <> $exceptId', { workspaceId, name, exceptId }) !== undefined

/** How many groups a workspace has. */
export const countGroups = (db: Database, workspaceId: string): number =>
  db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM env_groups WHERE workspace_id = ?').get(workspaceId)?.count ?? 0

/** Groups that the condition lets through, newest first, as many as `$limit` says. */
export const selectGroups = (db: Database, condition: string, bindings: Bindings): StoredGroup[] =>
  groups.all(db, `WHERE ${condition} ORDER BY id DESC LIMIT $limit`, bindings)

/** Adds a group with its variables, sealed. Belongs in the transaction that found its name free. */
export function insertGroup(rows: SecretRows, group: Omit<StoredGroup, 'updatedAt'>, entries: readonly EnvEntry[]): void {
  sealedGroups.insert(rows.db, { ...group, updatedAt: group.createdAt, ...variablesOf(rows, group.id, entries) })
}

/** Changes what is named and nothing else. */
export function updateGroup(db: Database, id: string, change: Partial<Pick<StoredGroup, 'name'>>, now: number): void {
  groups.update(db, { id }, { ...change, updatedAt: now })
}

/** All variables of a group in clear, by key. */
export function listGroupVariables(rows: SecretRows, groupId: string): EnvEntry[] {
  const row = sealedGroups.get(rows.db, 'WHERE id = $groupId', { groupId })
  return row === undefined ? [] : openVariables(rows, groupId, row.sealed)
}

/** Ids of the datastores that variables of a group refer to. */
export const datastoresOfGroup = (db: Database, groupId: string): string[] =>
  texts.read(db.query<{ ids: string }, [string]>('SELECT datastore_ids AS ids FROM env_groups WHERE id = ?').get(groupId)?.ids ?? '[]')

/** Replaces all variables of a group. */
export function replaceGroupVariables(rows: SecretRows, groupId: string, entries: readonly EnvEntry[], now: number): void {
  sealedGroups.update(rows.db, { id: groupId }, { ...variablesOf(rows, groupId, entries), updatedAt: now })
}

/** Removes a group with its files and links. */
export function removeGroup(db: Database, id: string): void {
  groups.remove(db, { id })
}
