import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'

/** What somebody does about their account stands in the log of each of their workspaces: a request must not write without bound. */
export const MAX_WORKSPACES_OF_USER = 100

/** Belongs in the transaction that adds a place. @throws AppError `conflict` for who is in too many. */
export function refuseManyWorkspaces(db: Database, userId: string): void {
  const { count } = db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM members WHERE user_id = ?').get(userId) ?? {
    count: 0,
  }
  if (count >= MAX_WORKSPACES_OF_USER)
    throw new AppError('conflict', `An account can be in ${MAX_WORKSPACES_OF_USER} workspaces, and this one is. Leave or delete one first.`)
}
