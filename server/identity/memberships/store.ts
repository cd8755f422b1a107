import type { Database } from 'bun:sqlite'
import type { Owner } from '../../../shared/workspace.ts'
import { type Columns, tableOf } from '../../platform/db/table.ts'
import { type NamedScope, scopeColumn } from '../scopes/scope.ts'

export interface StoredWorkspace {
  id: string
  name: string
  email: string
  createdAt: number
}

export interface StoredPlace {
  workspaceId: string
  userId: string
  role: string
  scope: NamedScope
  createdAt: number
}

export interface Membership extends Pick<StoredPlace, 'workspaceId' | 'role' | 'scope'> {
  requiresTwoFactor: boolean
}

interface MembershipRow extends Pick<StoredPlace, 'workspaceId' | 'role'> {
  scope: string | null
  requiresTwoFactor: number
}

export const workspaceColumns: Columns<StoredWorkspace> = { id: 'id', name: 'name', email: 'email', createdAt: 'created_at' }
const workspaces = tableOf<StoredWorkspace>('workspaces', workspaceColumns)

/** A workspace by id, also one that is being deleted. */
export const findWorkspace = (db: Database, id: string): StoredWorkspace | undefined => workspaces.get(db, 'WHERE id = $id', { id })

const memberOf = 'JOIN members m ON m.workspace_id = workspaces.id WHERE m.user_id = $userId AND deleted_at IS NULL'

/** The workspaces a user is a member of, newest first, without those that are being deleted. */
export const listWorkspacesOf = (db: Database, userId: string): StoredWorkspace[] =>
  workspaces.all(db, `${memberOf} ORDER BY workspaces.id DESC`, { userId })

/** Adds a workspace, which has no members. */
export const insertWorkspace = (db: Database, workspace: StoredWorkspace): boolean => workspaces.insert(db, workspace)

export const places = tableOf<StoredPlace>('members', {
  workspaceId: 'workspace_id',
  userId: 'user_id',
  role: 'role',
  scope: { column: 'scope', as: scopeColumn },
  createdAt: 'created_at',
})

/** Gives a user a place in a workspace. Links to set their password end that were shown to an administrator of their only workspace. */
export function insertMember(db: Database, place: Omit<StoredPlace, 'scope'> & { scope?: NamedScope }): void {
  db.query('DELETE FROM password_resets WHERE user_id = ? AND is_mailed = 0').run(place.userId)
  places.insert(db, place)
}

// Asked with every request: a join would cost eight microseconds more than looks into the other table, and whole rows two.
const memberships = `SELECT workspace_id AS workspaceId, role, scope,
    (SELECT requires_two_factor FROM workspaces WHERE id = workspace_id) AS requiresTwoFactor
  FROM members WHERE user_id = ? AND NOT EXISTS (SELECT 1 FROM workspaces WHERE id = workspace_id AND deleted_at IS NOT NULL)`
const oneMembership = `${memberships} AND workspace_id = ?`
const firstMembership = `${memberships} ORDER BY created_at, workspace_id LIMIT 1`

/** A user's place in one workspace; none in one that is being deleted. */
export const findMembership = (db: Database, userId: string, workspaceId: string): Membership | undefined =>
  membershipIn(db.query<MembershipRow, [string, string]>(oneMembership).get(userId, workspaceId))

/** A user's place in the workspace they have been in longest: where they act when they name none. */
export const findFirstMembership = (db: Database, userId: string): Membership | undefined =>
  membershipIn(db.query<MembershipRow, [string]>(firstMembership).get(userId))

const membershipIn = (row: MembershipRow | null): Membership | undefined =>
  row === null ? undefined : { ...row, scope: scopeColumn.read(row.scope), requiresTwoFactor: row.requiresTwoFactor === 1 }

/** A workspace as clients of Render's API know it. */
export const presentOwner = ({ id, name, email }: StoredWorkspace): Owner => ({ id, name, email, type: 'team' })

/** How many there are on the server, without those that are being deleted. */
export const countWorkspaces = (db: Database): number =>
  db.query<{ count: number }, []>('SELECT count(*) AS count FROM workspaces WHERE deleted_at IS NULL').get()?.count ?? 0
