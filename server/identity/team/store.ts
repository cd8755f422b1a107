import type { Database } from 'bun:sqlite'
import type { OwnerMember, OwnerRole, TeamMember } from '../../../shared/team.ts'
import { presentScope, type ServiceScope, scopeIn, scopeText } from '../scopes/scope.ts'

/** A user's place in a workspace. Times are milliseconds since 1970. */
export interface StoredMember {
  userId: string
  name: string
  email: string
  role: string
  scope: ServiceScope
  hasTwoFactor: boolean
  createdAt: number
  lastSeenAt: number | null
}

interface MemberRow extends Omit<StoredMember, 'scope' | 'hasTwoFactor'> {
  scope: string | null
  hasTwoFactor: number
}

const select = `SELECT u.id AS userId, u.name, u.email, m.role, m.scope, u.totp_confirmed_at IS NOT NULL AS hasTwoFactor,
  m.created_at AS createdAt, u.last_seen_at AS lastSeenAt
  FROM members m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $workspaceId`

/** The member of this user id. */
export function findMember(db: Database, workspaceId: string, userId: string): StoredMember | undefined {
  const row = db.query<MemberRow, Record<string, string>>(`${select} AND u.id = $userId`).get({ workspaceId, userId })
  return row === null ? undefined : memberIn(row)
}

/** Whether the owner of this address is a member. */
export const isMemberAddress = (db: Database, workspaceId: string, email: string): boolean =>
  db.query(`${select} AND u.email = $email`).get({ workspaceId, email }) !== null

interface Page {
  /** Only members whose user id is smaller. */
  beforeId?: string | undefined
  limit: number
}

/** Members of a workspace, the newest account first. */
export const listMembers = (db: Database, workspaceId: string, { beforeId = '~', limit }: Page): StoredMember[] =>
  db
    .query<MemberRow, Record<string, string | number>>(`${select} AND u.id < $beforeId ORDER BY u.id DESC LIMIT $limit`)
    .all({ workspaceId, beforeId, limit })
    .map(memberIn)

/** How many administrators of the whole workspace there are. */
export const countAdministrators = (db: Database, workspaceId: string): number =>
  db
    .query<{ count: number }, [string]>("SELECT count(*) AS count FROM members WHERE workspace_id = ? AND role = 'admin' AND scope IS NULL")
    .get(workspaceId)?.count ?? 0

/** Changes what a member may do. */
export function updateMember(
  db: Database,
  workspaceId: string,
  { userId, role, scope }: Pick<StoredMember, 'userId' | 'role' | 'scope'>,
): void {
  db.query('UPDATE members SET role = $role, scope = $scope WHERE workspace_id = $workspaceId AND user_id = $userId').run({
    workspaceId,
    userId,
    role,
    scope: scopeText(scope),
  })
}

/** Takes a user out of a workspace. */
export function deleteMember(db: Database, workspaceId: string, userId: string): void {
  db.query('DELETE FROM members WHERE workspace_id = ? AND user_id = ?').run(workspaceId, userId)
}

/** The member as callers see it. */
export function presentMember({ userId, name, email, role, scope, hasTwoFactor, createdAt, lastSeenAt }: StoredMember): TeamMember {
  return {
    id: userId,
    userId,
    name,
    email,
    role,
    scope: presentScope(scope),
    twoFactorEnabled: hasTwoFactor,
    status: 'active',
    createdAt: new Date(createdAt).toISOString(),
    ...(lastSeenAt !== null && { lastSeenAt: new Date(lastSeenAt).toISOString() }),
  }
}

const ownerRoleOf: Readonly<Record<string, OwnerRole>> = {
  admin: 'ADMIN',
  developer: 'DEVELOPER',
  billing: 'WORKSPACE_BILLING',
  viewer: 'WORKSPACE_VIEWER',
}

/** The member in the form of /v1/owners/:ownerId/members. */
export const presentOwnerMember = ({ userId, name, email, role, hasTwoFactor }: StoredMember): OwnerMember => ({
  userId,
  name,
  email,
  status: 'active',
  role: ownerRoleOf[role] ?? 'WORKSPACE_CONTRIBUTOR',
  mfaEnabled: hasTwoFactor,
})

const memberIn = (row: MemberRow): StoredMember => ({ ...row, scope: scopeIn(row.scope), hasTwoFactor: row.hasTwoFactor === 1 })
