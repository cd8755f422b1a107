import type { Database } from 'bun:sqlite'
import { type Columns, tableOf } from '../../platform/db/table.ts'
import { hashToken } from '../tokens/token.ts'
import type { GrantStatus, Polled } from './rules.ts'

/** A device that asks to be let in. Times are milliseconds since 1970. */
export interface StoredGrant extends Polled {
  userCode: string
  client: string
  clientId: string
  address: string
  userId: string | null
  createdAt: number
}

interface HashedGrant extends StoredGrant {
  deviceHash: string
}

const columns: Columns<StoredGrant> = {
  userCode: 'user_code',
  client: 'client',
  clientId: 'client_id',
  address: 'address',
  status: 'status',
  userId: 'user_id',
  polledAt: 'polled_at',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
}
const grants = tableOf<StoredGrant>('device_grants', columns)
const hashedGrants = tableOf<HashedGrant>('device_grants', { ...columns, deviceHash: 'device_hash' })

const REMEMBERED_MS = 10 * 60_000

/** Adds a grant, and clears away those that are long over. @throws SQLiteError for a user code that another one waits with. */
export function insertGrant(db: Database, deviceCode: string, grant: Omit<StoredGrant, 'status' | 'userId' | 'polledAt'>): void {
  db.query('DELETE FROM device_grants WHERE expires_at <= ?').run(grant.createdAt - REMEMBERED_MS)
  hashedGrants.insert(db, { ...grant, deviceHash: hashToken(deviceCode), status: 'pending' })
}

/** How many grants that were asked for at this address wait for an answer. */
export const countWaiting = (db: Database, address: string, now: number): number =>
  db
    .query<{ n: number }, [string, number]>(
      "SELECT count(*) AS n FROM device_grants WHERE address = ? AND status = 'pending' AND expires_at > ?",
    )
    .get(address, now)?.n ?? 0

/** The grant of a device code, also when it is over; undefined for a code that is none. */
export const findGrant = (db: Database, deviceCode: string): StoredGrant | undefined =>
  grants.get(db, 'WHERE device_hash = $hash', { hash: hashToken(deviceCode) })

/** The grant that a user was shown the code of, unless it is over. */
export const findGrantByUserCode = (db: Database, userCode: string, now: number): StoredGrant | undefined =>
  grants.get(db, 'WHERE user_code = $userCode AND expires_at > $now', { userCode, now })

/** Whether a grant has this code, also one that is over and still remembered. */
export const isUserCodeTaken = (db: Database, userCode: string): boolean =>
  db.query('SELECT 1 FROM device_grants WHERE user_code = ?').get(userCode) !== null

/** Writes down when a device has asked last, in milliseconds since 1970. */
export const notePoll = (db: Database, deviceCode: string, now: number): void =>
  void hashedGrants.update(db, { deviceHash: hashToken(deviceCode) }, { polledAt: now })

/** Writes down the user's answer. Only the first one counts. */
export const answerGrant = (db: Database, userCode: string, answer: { status: Exclude<GrantStatus, 'pending'>; userId: string }): void =>
  void grants.update(db, { userCode, status: 'pending' }, answer)

/** Takes an approved grant away, so that nobody gets its tokens twice. */
export const takeApproved = (db: Database, deviceCode: string): StoredGrant | undefined =>
  db
    .query<StoredGrant, [string]>(
      `DELETE FROM device_grants WHERE device_hash = ? AND status = 'approved' AND user_id IS NOT NULL RETURNING ${grants.columns}`,
    )
    .get(hashToken(deviceCode)) ?? undefined
