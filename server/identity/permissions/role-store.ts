import type { Database } from 'bun:sqlite'
import { type Permission, permissionNames } from '../../../shared/permission.ts'
import type { IdPage } from '../../http/answers/page.ts'
import type { Codec } from '../../platform/db/codec.ts'
import { texts } from '../../platform/db/json-column.ts'
import { type Columns, type Row, tableOf } from '../../platform/db/table.ts'
import { memo } from '../../platform/memo.ts'
import { roleKey } from './rules.ts'

/** A role that a workspace made. Times are milliseconds since 1970. */
export interface StoredRole {
  id: string
  workspaceId: string
  name: string
  description: string
  permissions: ReadonlySet<Permission>
  createdAt: number
  updatedAt: number
}

interface KeyedRole extends StoredRole {
  nameKey: string
}

const REMEMBERED_SETS = 2000

const known: ReadonlySet<string> = new Set(permissionNames)
const isPermission = (name: string): name is Permission => known.has(name)

/** Sets are remembered by their text, so a role that is changed is another one at once. */
const permissionsIn = memo((text: string): ReadonlySet<Permission> => new Set(texts.read(text).filter(isPermission)), REMEMBERED_SETS)

/** Writes in the order of the closed list, so that equal sets have equal texts. */
const permissionsColumn: Codec<ReadonlySet<Permission>> = {
  read: (stored) => permissionsIn(String(stored)),
  write: (permissions) => JSON.stringify(permissionNames.filter((name) => permissions.has(name))),
}

const columns: Columns<StoredRole> = {
  id: 'id',
  workspaceId: 'workspace_id',
  name: 'name',
  description: 'description',
  permissions: { column: 'permissions', as: permissionsColumn },
  createdAt: 'created_at',
  updatedAt: 'updated_at',
}
const roles = tableOf<StoredRole>('roles', columns)
const keyedRoles = tableOf<KeyedRole>('roles', { ...columns, nameKey: 'name_key' })

const byName = `SELECT ${roles.columns} FROM roles WHERE workspace_id = ? AND name_key = ?`

/** The custom role of this name, in any letter case. Asked with every request. */
export function findRoleByName(db: Database, workspaceId: string, name: string): StoredRole | undefined {
  const row = db.query<Row, [string, string]>(byName).get(workspaceId, roleKey(name))
  return row === null ? undefined : roles.present(row)
}

/** A role that this workspace made; undefined where it has none of this id. */
export const findRole = (db: Database, workspaceId: string, id: string): StoredRole | undefined =>
  roles.get(db, 'WHERE workspace_id = $workspaceId AND id = $id', { workspaceId, id })

/** Roles that a workspace made, newest first. */
export const listRoles = (db: Database, workspaceId: string, { beforeId = '~', limit }: IdPage): StoredRole[] =>
  roles.all(db, 'WHERE workspace_id = $workspaceId AND id < $beforeId ORDER BY id DESC LIMIT $limit', { workspaceId, beforeId, limit })

/** How many roles a workspace made. */
export const countRoles = (db: Database, workspaceId: string): number =>
  db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM roles WHERE workspace_id = ?').get(workspaceId)?.count ?? 0

/** Adds a role. @throws SQLiteError when the name is taken: look first, in the same transaction. */
export const insertRole = (db: Database, role: StoredRole): boolean => keyedRoles.insert(db, { ...role, nameKey: roleKey(role.name) })

/** Replaces a role, also where it is held under its former name. Belongs in a transaction. @throws SQLiteError as `insertRole`. */
export function updateRole(db: Database, role: StoredRole, formerName: string): void {
  const { id, name, description, permissions, updatedAt } = role
  keyedRoles.update(db, { id }, { name, nameKey: roleKey(name), description, permissions, updatedAt })
  if (role.name === formerName) return
  for (const table of ['members', 'api_keys', 'invites'])
    db.query(`UPDATE ${table} SET role = ? WHERE workspace_id = ? AND role = ?`).run(role.name, role.workspaceId, formerName)
}

/** Removes a role. Look first, in the same transaction, that nobody holds it. */
export const deleteRole = (db: Database, id: string): void => void roles.remove(db, { id })
