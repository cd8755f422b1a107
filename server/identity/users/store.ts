import type { Database } from 'bun:sqlite'
import type { User } from '../../../shared/auth.ts'

export interface StoredUser extends User {
  passwordHash: string
}

interface NewUser extends StoredUser {
  createdAt: number
}

const columns = 'id, email, name, password_hash AS passwordHash'

/** The account with this address, in any letter case. */
export const findUserByEmail = (db: Database, email: string): StoredUser | undefined =>
  db.query<StoredUser, [string]>(`SELECT ${columns} FROM users WHERE email = ?`).get(email) ?? undefined

/** The account of this id, or undefined. */
export const findUser = (db: Database, id: string): StoredUser | undefined =>
  db.query<StoredUser, [string]>(`SELECT ${columns} FROM users WHERE id = ?`).get(id) ?? undefined

/** Adds an account. @throws SQLiteError when the address has one already: look first, in the same transaction. */
export function insertUser(db: Database, user: NewUser): void {
  db.query('INSERT INTO users (id, email, name, password_hash, created_at) VALUES ($id, $email, $name, $passwordHash, $createdAt)').run({
    ...user,
  })
}

/** Replaces the hash of an account's password. */
export function setPasswordHash(db: Database, id: string, passwordHash: string): void {
  db.query('UPDATE users SET password_hash = $passwordHash WHERE id = $id').run({ id, passwordHash })
}

/** The account as callers see it. */
export const presentUser = ({ id, email, name }: StoredUser): User => ({ id, email, name })
