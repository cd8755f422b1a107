import type { Database } from 'bun:sqlite'
import { AppError } from '../../shared/error.ts'
import type { Workspace } from '../../shared/workspace.ts'
import { hasTwoFactor } from '../auth/two-factor-store.ts'
import type { Actor } from '../http/call.ts'

/** The workspaces of a user that let nobody in without a second factor. */
export const listRequiring = (db: Database, userId: string): Workspace[] =>
  db
    .query<Workspace, [string]>(
      `SELECT w.id, w.name FROM members m JOIN workspaces w ON w.id = m.workspace_id
       WHERE m.user_id = ? AND w.requires_two_factor = 1 AND w.deleted_at IS NULL ORDER BY w.id`,
    )
    .all(userId)

/**
 * To be asked before a workspace begins to require two-factor sign-in: who switches the rule on meets it, so that somebody is left who
 * can switch it off. Keys and the static token are not asked for a second factor, so they lock nobody out.
 *
 * @throws AppError `conflict` for a user without.
 */
export function refuseLockingOneselfOut(db: Database, actor: Pick<Actor, 'type' | 'id'>): void {
  if (actor.type !== 'user' || hasTwoFactor(db, actor.id)) return
  throw new AppError(
    'conflict',
    'Set up two-factor sign-in for yourself first (POST /v1/auth/two-factor, or cpctl account two-factor enable): the rule would lock you out.',
  )
}
