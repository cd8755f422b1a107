import type { Database } from 'bun:sqlite'
import type { Owner } from '../../shared/workspace.ts'

export interface StoredWorkspace {
  id: string
  name: string
  email: string
  createdAt: number
}

export interface Membership {
  workspaceId: string
  role: string
}

const columns = 'w.id, w.name, w.email, w.created_at AS createdAt'

/** The workspace of this id, whosoever it is, or undefined. */
export const findWorkspace = (db: Database, id: string): StoredWorkspace | undefined =>
  db.query<StoredWorkspace, [string]>(`SELECT ${columns} FROM workspaces w WHERE w.id = ?`).get(id) ?? undefined

/** The workspaces a user is a member of, newest first. */
export const listWorkspacesOf = (db: Database, userId: string): StoredWorkspace[] =>
  db
    .query<StoredWorkspace, [string]>(
      `SELECT ${columns} FROM members m JOIN workspaces w ON w.id = m.workspace_id WHERE m.user_id = ? ORDER BY w.id DESC`,
    )
    .all(userId)

/** Adds a workspace; without a member nobody can enter it. */
export function insertWorkspace(db: Database, workspace: StoredWorkspace): void {
  db.query('INSERT INTO workspaces (id, name, email, created_at) VALUES ($id, $name, $email, $createdAt)').run({ ...workspace })
}

/** Gives a user a place in a workspace, with the name of a role. */
export function insertMember(db: Database, member: { workspaceId: string; userId: string; role: string; createdAt: number }): void {
  db.query('INSERT INTO members (workspace_id, user_id, role, created_at) VALUES ($workspaceId, $userId, $role, $createdAt)').run({
    ...member,
  })
}

/** A user's place in one workspace. */
export const findMembership = (db: Database, userId: string, workspaceId: string): Membership | undefined =>
  db
    .query<Membership, [string, string]>('SELECT workspace_id AS workspaceId, role FROM members WHERE user_id = ? AND workspace_id = ?')
    .get(userId, workspaceId) ?? undefined

/** A user's place in the workspace they have been in longest: where they act when they name none. */
export const findFirstMembership = (db: Database, userId: string): Membership | undefined =>
  db
    .query<Membership, [string]>(
      'SELECT workspace_id AS workspaceId, role FROM members WHERE user_id = ? ORDER BY created_at, workspace_id LIMIT 1',
    )
    .get(userId) ?? undefined

/** The workspace as callers see it. */
export const presentOwner = ({ id, name, email }: StoredWorkspace): Owner => ({ id, name, email, type: 'team' })
