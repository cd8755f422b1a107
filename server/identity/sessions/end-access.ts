import type { Database } from 'bun:sqlite'
import { deleteSessionsOf } from './store.ts'

/** Ends sessions but the one of this id, sign-ins that wait for a second factor, and devices that have not fetched their token. */
export function endSignIns(db: Database, userId: string, exceptSessionId?: string): void {
  deleteSessionsOf(db, userId, exceptSessionId)
  db.query('DELETE FROM pending_sign_ins WHERE user_id = ?').run(userId)
  db.query('DELETE FROM device_grants WHERE user_id = ?').run(userId)
}

export function endAccess(db: Database, userId: string, exceptSessionId?: string): void {
  endSignIns(db, userId, exceptSessionId)
  db.query('DELETE FROM password_resets WHERE user_id = ?').run(userId)
}
