import type { Database } from 'bun:sqlite'
import { newId } from '../../platform/id.ts'
import { insertMember, insertWorkspace } from '../memberships/store.ts'
import { insertUser, type StoredUser } from './store.ts'

export interface NewAccount {
  email: string
  name: string
  passwordHash: string
  createdAt: number
}

/** Adds an account that is in no workspace yet. Look first whether the address has one, in the same transaction. */
export function openAccount(db: Database, { email, name, passwordHash, createdAt }: NewAccount): StoredUser {
  const user = { id: newId('user', createdAt), email, name: name || (email.split('@')[0] ?? email), passwordHash }
  insertUser(db, { ...user, createdAt })
  return user
}

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
