import type { Database } from 'bun:sqlite'
import { type Permission, permissionNames } from '../../../shared/permission.ts'
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

interface RoleRow extends Omit<StoredRole, 'permissions'> {
  permissions: string
}

const columns = 'id, workspace_id AS workspaceId, name, description, permissions, created_at AS createdAt, updated_at AS updatedAt'

/** The custom role of this name, in any letter case. */
export const findRoleByName = (db: Database, workspaceId: string, name: string): StoredRole | undefined =>
  one(
    db
      .query<RoleRow, [string, string]>(`SELECT ${columns} FROM roles WHERE workspace_id = ? AND name_key = ?`)
      .get(workspaceId, roleKey(name)),
  )

/** The custom role of this id in the workspace. */
export const findRole = (db: Database, workspaceId: string, id: string): StoredRole | undefined =>
  one(db.query<RoleRow, [string, string]>(`SELECT ${columns} FROM roles WHERE workspace_id = ? AND id = ?`).get(workspaceId, id))

/** The custom roles of a workspace, newest first, those before `beforeId` when it is given. */
export const listRoles = (
  db: Database,
  workspaceId: string,
  { beforeId, limit }: { beforeId: string | undefined; limit: number },
): StoredRole[] =>
  db
    .query<RoleRow, Record<string, string | number | null>>(
      `SELECT ${columns} FROM roles WHERE workspace_id = $workspaceId AND ($beforeId IS NULL OR id < $beforeId) ORDER BY id DESC LIMIT $limit`,
    )
    .all({ workspaceId, beforeId: beforeId ?? null, limit })
    .map(present)

/** How many custom roles a workspace has. */
export const countRoles = (db: Database, workspaceId: string): number =>
  db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM roles WHERE workspace_id = ?').get(workspaceId)?.count ?? 0

/** Adds a role. @throws SQLiteError when the name is taken: look first, in the same transaction. */
export function insertRole(db: Database, role: StoredRole): void {
  db.query(
    `INSERT INTO roles (id, workspace_id, name, name_key, description, permissions, created_at, updated_at)
     VALUES ($id, $workspaceId, $name, $key, $description, $permissions, $createdAt, $updatedAt)`,
  ).run({ ...role, key: roleKey(role.name), permissions: textOf(role.permissions) })
}

/**
 * Replaces a role; whoever holds it under its former name holds it under the new one. Belongs into a transaction.
 *
 * @throws SQLiteError when the name is taken: look first, in the same transaction.
 */
export function updateRole(db: Database, role: StoredRole, formerName: string): void {
  db.query(
    `UPDATE roles SET name = $name, name_key = $key, description = $description, permissions = $permissions, updated_at = $updatedAt
     WHERE id = $id`,
  ).run({
    id: role.id,
    name: role.name,
    key: roleKey(role.name),
    description: role.description,
    permissions: textOf(role.permissions),
    updatedAt: role.updatedAt,
  })
  if (role.name === formerName) return
  for (const table of ['members', 'api_keys', 'invites'])
    db.query(`UPDATE ${table} SET role = ? WHERE workspace_id = ? AND role = ?`).run(role.name, role.workspaceId, formerName)
}

/** Removes a role. That nobody holds it is to be looked at first, in the same transaction. */
export function deleteRole(db: Database, id: string): void {
  db.query('DELETE FROM roles WHERE id = ?').run(id)
}

const REMEMBERED_SETS = 2000

/** Remembered by their text, so a role that is changed is another one at once. */
const permissionsIn = memo((text: string): ReadonlySet<Permission> => new Set(JSON.parse(text) as Permission[]), REMEMBERED_SETS)

/** In the order of the closed list, so that equal sets have equal texts. */
const textOf = (permissions: ReadonlySet<Permission>): string => JSON.stringify(permissionNames.filter((name) => permissions.has(name)))

const one = (row: RoleRow | null): StoredRole | undefined => (row === null ? undefined : present(row))

const present = (row: RoleRow): StoredRole => ({ ...row, permissions: permissionsIn(row.permissions) })
