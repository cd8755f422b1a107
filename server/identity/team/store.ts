import type { Database } from 'bun:sqlite'
import type { OwnerMember, OwnerRole, TeamMember } from '../../../shared/team.ts'
import type { IdPage } from '../../http/answers/page.ts'
import type { Bindings, Row } from '../../platform/db/table.ts'
import { places, type StoredPlace } from '../memberships/store.ts'
import { presentScope } from '../scopes/scope.ts'

/** A user's place in a workspace, and who it is. Times are milliseconds since 1970. */
export interface StoredMember extends Omit<StoredPlace, 'workspaceId'> {
  name: string
  email: string
  hasTwoFactor: boolean
  lastSeenAt: number | null
}

type MemberRow = Row & Pick<StoredMember, 'name' | 'email' | 'lastSeenAt'> & { hasTwoFactor: number }

const select = `SELECT ${places.columns}, u.name, u.email, u.totp_confirmed_at IS NOT NULL AS hasTwoFactor, u.last_seen_at AS lastSeenAt
  FROM members JOIN users u ON u.id = members.user_id WHERE members.workspace_id = $workspaceId`

/** A member of this workspace; undefined for whoever is none. */
export function findMember(db: Database, workspaceId: string, userId: string): StoredMember | undefined {
  const row = db.query<MemberRow, [Bindings]>(`${select} AND u.id = $userId`).get({ workspaceId, userId })
  return row === null ? undefined : memberIn(row)
}

/** Whether a member of the workspace has this address. */
export const isMemberAddress = (db: Database, workspaceId: string, email: string): boolean =>
  db.query(`${select} AND u.email = $email`).get({ workspaceId, email }) !== null

/** Members of a workspace, the newest account first. */
export const listMembers = (db: Database, workspaceId: string, { beforeId = '~', limit }: IdPage): StoredMember[] =>
  db
    .query<MemberRow, [Bindings]>(`${select} AND u.id < $beforeId ORDER BY u.id DESC LIMIT $limit`)
    .all({ workspaceId, beforeId, limit })
    .map(memberIn)

/** How many administrators of the whole workspace there are. */
export const countAdministrators = (db: Database, workspaceId: string): number =>
  db
    .query<{ count: number }, [string]>("SELECT count(*) AS count FROM members WHERE workspace_id = ? AND role = 'admin' AND scope IS NULL")
    .get(workspaceId)?.count ?? 0

/** Changes role and scope of a member. Look first, in the same transaction, that an administrator is left. */
export const updateMember = (
  db: Database,
  workspaceId: string,
  { userId, role, scope }: Pick<StoredMember, 'userId' | 'role' | 'scope'>,
): void => void places.update(db, { workspaceId, userId }, { role, scope })

/** Takes a member out of a workspace. The account stays. */
export const deleteMember = (db: Database, workspaceId: string, userId: string): void => void places.remove(db, { workspaceId, userId })

/** A member as others of the workspace see them. */
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

/** A member as clients of Render's API know one, with the nearest of Render's roles. */
export const presentOwnerMember = ({ userId, name, email, role, hasTwoFactor }: StoredMember): OwnerMember => ({
  userId,
  name,
  email,
  status: 'active',
  role: ownerRoleOf[role] ?? 'WORKSPACE_CONTRIBUTOR',
  mfaEnabled: hasTwoFactor,
})

function memberIn(row: MemberRow): StoredMember {
  const { name, email, lastSeenAt, hasTwoFactor } = row
  return { ...places.present(row), name, email, lastSeenAt, hasTwoFactor: hasTwoFactor === 1 }
}
