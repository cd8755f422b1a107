import type { Database } from 'bun:sqlite'
import type { Owner } from '../../../shared/workspace.ts'
import { type ServiceScope, scopeIn, scopeText } from '../scopes/scope.ts'

export interface StoredWorkspace {
  id: string
  name: string
  email: string
  createdAt: number
}

export interface Membership {
  workspaceId: string
  role: string
  scope: ServiceScope
  /** Whether the workspace lets in users with a second factor only. */
  requiresTwoFactor: boolean
}

interface MembershipRow {
  workspaceId: string
  role: string
  scope: string | null
  requiresTwoFactor: number
}

const columns = 'w.id, w.name, w.email, w.created_at AS createdAt'

/** The workspace of this id, whosoever it is, or undefined. */
export const findWorkspace = (db: Database, id: string): StoredWorkspace | undefined =>
  db.query<StoredWorkspace, [string]>(`SELECT ${columns} FROM workspaces w WHERE w.id = ?`).get(id) ?? undefined

/** The workspaces a user is a member of, newest first, without those that are being deleted. */
export const listWorkspacesOf = (db: Database, userId: string): StoredWorkspace[] =>
  db
    .query<StoredWorkspace, [string]>(
      `SELECT ${columns} FROM members m JOIN workspaces w ON w.id = m.workspace_id WHERE m.user_id = ? AND w.deleted_at IS NULL ORDER BY w.id DESC`,
    )
    .all(userId)

/** Adds a workspace; without a member nobody can enter it. */
export function insertWorkspace(db: Database, workspace: StoredWorkspace): void {
  db.query('INSERT INTO workspaces (id, name, email, created_at) VALUES ($id, $name, $email, $createdAt)').run({ ...workspace })
}

interface NewMember {
  workspaceId: string
  userId: string
  /** The name of a role. */
  role: string
  scope?: ServiceScope
  createdAt: number
}

/**
 * Gives a user a place in a workspace. Links to set their password that somebody was shown end: administrators get those of accounts that
 * are in their own workspace alone.
 */
export function insertMember(db: Database, { scope, ...member }: NewMember): void {
  db.query('DELETE FROM password_resets WHERE user_id = ? AND is_mailed = 0').run(member.userId)
  db.query(
    'INSERT INTO members (workspace_id, user_id, role, scope, created_at) VALUES ($workspaceId, $userId, $role, $scope, $createdAt)',
  ).run({ ...member, scope: scopeText(scope) })
}

// Asked with every request: a join would cost eight microseconds more than looks into the other table.
const memberships = `SELECT workspace_id AS workspaceId, role, scope,
    (SELECT requires_two_factor FROM workspaces WHERE id = workspace_id) AS requiresTwoFactor
  FROM members WHERE user_id = ? AND NOT EXISTS (SELECT 1 FROM workspaces WHERE id = workspace_id AND deleted_at IS NOT NULL)`

/** A user's place in one workspace; none in one that is being deleted. */
export const findMembership = (db: Database, userId: string, workspaceId: string): Membership | undefined =>
  membershipIn(db.query<MembershipRow, [string, string]>(`${memberships} AND workspace_id = ?`).get(userId, workspaceId))

/** A user's place in the workspace they have been in longest: where they act when they name none. */
export const findFirstMembership = (db: Database, userId: string): Membership | undefined =>
  membershipIn(db.query<MembershipRow, [string]>(`${memberships} ORDER BY created_at, workspace_id LIMIT 1`).get(userId))

const membershipIn = (row: MembershipRow | null): Membership | undefined =>
  row === null ? undefined : { ...row, scope: scopeIn(row.scope), requiresTwoFactor: row.requiresTwoFactor === 1 }

/** The workspace as callers see it. */
export const presentOwner = ({ id, name, email }: StoredWorkspace): Owner => ({ id, name, email, type: 'team' })

/** How many there are on the server, without those that are being deleted. */
export const countWorkspaces = (db: Database): number =>
  db.query<{ count: number }, []>('SELECT count(*) AS count FROM workspaces WHERE deleted_at IS NULL').get()?.count ?? 0
