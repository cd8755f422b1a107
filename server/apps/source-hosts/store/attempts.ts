import type { Database } from 'bun:sqlite'
import { hashToken, newToken } from '../../../identity/tokens/token.ts'

export const ATTEMPT_MS = 10 * 60_000
/** Attempts of a person that are kept at a time: beyond, the oldest go. */
const MAX_ATTEMPTS = 10

export type AttemptPurpose = 'app' | 'install'

export interface Attempt {
  workspaceId: string
  userId: string
  purpose: AttemptPurpose
}

/** Writes down that somebody goes to a host with a browser. Returns the state that the host sends back. */
export function beginAttempt(db: Database, { workspaceId, userId, purpose }: Attempt, now: number): string {
  const state = newToken()
  db.query('DELETE FROM source_host_attempts WHERE expires_at <= ?').run(now)
  db.query(
    `DELETE FROM source_host_attempts WHERE state_hash IN
       (SELECT state_hash FROM source_host_attempts WHERE user_id = ? ORDER BY expires_at DESC LIMIT -1 OFFSET ?)`,
  ).run(userId, MAX_ATTEMPTS - 1)
  db.query('INSERT INTO source_host_attempts (state_hash, workspace_id, user_id, purpose, expires_at) VALUES (?, ?, ?, ?, ?)').run(
    hashToken(state),
    workspaceId,
    userId,
    purpose,
    now + ATTEMPT_MS,
  )
  return state
}

/** Takes the attempt of a state, so that nobody finds it a second time. Only the person who began it does. */
export function takeAttempt(
  db: Database,
  { state, userId, purpose, now }: { state: string; userId: string; purpose: AttemptPurpose; now: number },
): Attempt | undefined {
  const row = db
    .query<{ workspaceId: string }, [string, string, string, number]>(
      `DELETE FROM source_host_attempts WHERE state_hash = ? AND user_id = ? AND purpose = ? AND expires_at > ?
       RETURNING workspace_id AS workspaceId`,
    )
    .get(hashToken(state), userId, purpose, now)
  return row === null ? undefined : { workspaceId: row.workspaceId, userId, purpose }
}
