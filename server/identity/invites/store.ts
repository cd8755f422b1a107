import type { Database } from 'bun:sqlite'
import type { TeamInvite } from '../../../shared/team.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { presentScope, type ServiceScope, scopeIn, scopeText } from '../scopes/scope.ts'

/** An invite that was not accepted yet. Times are milliseconds since 1970. */
export interface StoredInvite {
  id: string
  workspaceId: string
  email: string
  role: string
  scope: ServiceScope
  inviterType: Actor['type']
  inviterId: string
  createdAt: number
  expiresAt: number
}

interface InviteRow extends Omit<StoredInvite, 'scope'> {
  scope: string | null
}

const select = `SELECT id, workspace_id AS workspaceId, email, role, scope, inviter_type AS inviterType, inviter_id AS inviterId,
  created_at AS createdAt, expires_at AS expiresAt FROM invites`

/** The invite whose token has this hash. */
export const findInviteByHash = (db: Database, tokenHash: string): StoredInvite | undefined =>
  one(db.query<InviteRow, [string]>(`${select} WHERE token_hash = ?`).get(tokenHash))

/** The invite of this id. */
export const findInvite = (db: Database, workspaceId: string, id: string): StoredInvite | undefined =>
  one(db.query<InviteRow, [string, string]>(`${select} WHERE workspace_id = ? AND id = ?`).get(workspaceId, id))

/** The invite to this address, in any letter case. */
export const findInviteTo = (db: Database, workspaceId: string, email: string): StoredInvite | undefined =>
  one(db.query<InviteRow, [string, string]>(`${select} WHERE workspace_id = ? AND email = ?`).get(workspaceId, email))

interface Page {
  beforeId: string | undefined
  limit: number
}

/** Invites of a workspace, newest first. */
export const listInvites = (db: Database, workspaceId: string, { beforeId = '~', limit }: Page): StoredInvite[] =>
  db
    .query<InviteRow, [string, string, number]>(`${select} WHERE workspace_id = ? AND id < ? ORDER BY id DESC LIMIT ?`)
    .all(workspaceId, beforeId, limit)
    .map(inviteIn)

/** Adds an invite. @throws SQLiteError when the address has one already: look first, in the same transaction. */
export function insertInvite(db: Database, invite: StoredInvite & { tokenHash: string }): void {
  db.query(
    `INSERT INTO invites (id, workspace_id, email, role, scope, token_hash, inviter_type, inviter_id, created_at, expires_at)
     VALUES ($id, $workspaceId, $email, $role, $scope, $tokenHash, $inviterType, $inviterId, $createdAt, $expiresAt)`,
  ).run({ ...invite, scope: scopeText(invite.scope) })
}

/** Removes an invite; false when it was gone before. */
export const deleteInvite = (db: Database, id: string): boolean => db.query('DELETE FROM invites WHERE id = ?').run(id).changes > 0

/** How long an invite that has expired is still shown. */
const EXPIRED_KEPT_MS = 30 * 24 * 3600 * 1000

/** Removes the invites that expired long ago. */
export function forgetOldInvites(db: Database, now: number): void {
  db.query('DELETE FROM invites WHERE expires_at < ?').run(now - EXPIRED_KEPT_MS)
}

/** The invite as callers see it. */
export const presentInvite = ({ id, email, role, scope, createdAt, expiresAt }: StoredInvite): TeamInvite => ({
  id,
  email,
  role,
  scope: presentScope(scope),
  expiresAt: new Date(expiresAt).toISOString(),
  createdAt: new Date(createdAt).toISOString(),
})

const one = (row: InviteRow | null): StoredInvite | undefined => (row === null ? undefined : inviteIn(row))
const inviteIn = (row: InviteRow): StoredInvite => ({ ...row, scope: scopeIn(row.scope) })
