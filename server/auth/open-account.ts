import type { Database } from 'bun:sqlite'
import { newId } from '../id.ts'
import { insertMember, insertWorkspace } from '../workspaces/store.ts'
import { insertUser, type StoredUser } from './user-store.ts'

export interface NewAccount {
  email: string
  /** Empty: the part of the address before the @. */
  name: string
  /** Empty for an account that signs in through a provider only. */
  passwordHash: string
  createdAt: number
}

/** Adds an account that is in no workspace yet. Look first whether the address has one, in the same transaction. */
export function openAccount(db: Database, { email, name, passwordHash, createdAt }: NewAccount): StoredUser {
  const user = { id: newId('user', createdAt), email, name: name || (email.split('@')[0] ?? email), passwordHash }
  insertUser(db, { ...user, createdAt })
  return user
}

/** Adds the workspace that somebody who registers begins with, as its administrator. Gives its id. */
export function openOwnWorkspace(
  db: Database,
  { id: userId, email, name }: StoredUser,
  at: { workspaceName: string; createdAt: number },
): string {
  const { createdAt } = at
  const workspaceId = newId('workspace', createdAt)
  insertWorkspace(db, { id: workspaceId, name: at.workspaceName || `${name}'s workspace`, email, createdAt })
  insertMember(db, { workspaceId, userId, role: 'admin', createdAt })
  return workspaceId
}

/** Notes that mail to the account's address reaches its owner. */
export function proveEmail(db: Database, userId: string, now: number): void {
  db.query('UPDATE users SET email_proven_at = coalesce(email_proven_at, $now) WHERE id = $userId').run({ userId, now })
}

/** Whether that was ever shown. */
export const isEmailProven = (db: Database, userId: string): boolean =>
  db.query<{ found: 1 }, [string]>('SELECT 1 AS found FROM users WHERE id = ? AND email_proven_at IS NOT NULL').get(userId) !== null
