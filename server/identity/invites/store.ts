import type { Database } from 'bun:sqlite'
import type { TeamInvite } from '../../../shared/team.ts'
import type { IdPage } from '../../http/answers/page.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { type Columns, tableOf } from '../../platform/db/table.ts'
import { type NamedScope, presentScope, scopeColumn } from '../scopes/scope.ts'

/** An invite that was not accepted yet. Times are milliseconds since 1970. */
export interface StoredInvite {
  id: string
  workspaceId: string
  email: string
  role: string
  scope: NamedScope
  inviterType: Actor['type']
  inviterId: string
  createdAt: number
  expiresAt: number
}

interface NewInvite extends StoredInvite {
  tokenHash: string
}

const columns: Columns<StoredInvite> = {
  id: 'id',
  workspaceId: 'workspace_id',
  email: 'email',
  role: 'role',
  scope: { column: 'scope', as: scopeColumn },
  inviterType: 'inviter_type',
  inviterId: 'inviter_id',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
}
const invites = tableOf<StoredInvite>('invites', columns)
const newInvites = tableOf<NewInvite>('invites', { ...columns, tokenHash: 'token_hash' })

/** The invite whose token has this hash. */
export const findInviteByHash = (db: Database, tokenHash: string): StoredInvite | undefined =>
  invites.get(db, 'WHERE token_hash = $tokenHash', { tokenHash })

/** An invite of this workspace, expired or not; undefined where it has none of this id. */
export const findInvite = (db: Database, workspaceId: string, id: string): StoredInvite | undefined =>
  invites.get(db, 'WHERE workspace_id = $workspaceId AND id = $id', { workspaceId, id })

/** The invite of this address to this workspace, expired or not. */
export const findInviteTo = (db: Database, workspaceId: string, email: string): StoredInvite | undefined =>
  invites.get(db, 'WHERE workspace_id = $workspaceId AND email = $email', { workspaceId, email })

/** Invites of a workspace, newest first. */
export const listInvites = (db: Database, workspaceId: string, { beforeId = '~', limit }: IdPage): StoredInvite[] =>
  invites.all(db, 'WHERE workspace_id = $workspaceId AND id < $beforeId ORDER BY id DESC LIMIT $limit', { workspaceId, beforeId, limit })

/** Adds an invite. @throws SQLiteError when the address has one already: look first, in the same transaction. */
export const insertInvite = (db: Database, invite: NewInvite): boolean => newInvites.insert(db, invite)

/** Takes an invite back, or uses it up; false when it was gone already. */
export const deleteInvite = (db: Database, id: string): boolean => invites.remove(db, { id }) > 0

/** How long an invite that has expired is still shown. */
const EXPIRED_KEPT_MS = 30 * 24 * 3600 * 1000

/** Removes invites that expired more than 30 days ago. */
export function forgetOldInvites(db: Database, now: number): void {
  db.query('DELETE FROM invites WHERE expires_at < ?').run(now - EXPIRED_KEPT_MS)
}

/** An invite as people see it, without its token. */
export const presentInvite = ({ id, email, role, scope, createdAt, expiresAt }: StoredInvite): TeamInvite => ({
  id,
  email,
  role,
  scope: presentScope(scope),
  expiresAt: new Date(expiresAt).toISOString(),
  createdAt: new Date(createdAt).toISOString(),
})
