import type { Database } from 'bun:sqlite'
import type { User } from '../../../shared/auth.ts'
import { type Columns, tableOf } from '../../platform/db/table.ts'

export interface StoredUser extends User {
  passwordHash: string
}

interface NewUser extends StoredUser {
  createdAt: number
}

const columns: Columns<StoredUser> = { id: 'id', email: 'email', name: 'name', passwordHash: 'password_hash' }
const users = tableOf<StoredUser>('users', columns)
const newUsers = tableOf<NewUser>('users', { ...columns, createdAt: 'created_at' })

/** The account with this address, in any letter case. */
export const findUserByEmail = (db: Database, email: string): StoredUser | undefined => users.get(db, 'WHERE email = $email', { email })

/** An account by id. */
export const findUser = (db: Database, id: string): StoredUser | undefined => users.get(db, 'WHERE id = $id', { id })

/** Adds an account. @throws SQLiteError when the address has one already: look first, in the same transaction. */
export const insertUser = (db: Database, user: NewUser): boolean => newUsers.insert(db, user)

/** Gives an account another password. Its sessions are left to the caller. */
export const setPasswordHash = (db: Database, id: string, passwordHash: string): void => void users.update(db, { id }, { passwordHash })

/** An account as its own user sees it. */
export const presentUser = ({ id, email, name }: StoredUser): User => ({ id, email, name })
