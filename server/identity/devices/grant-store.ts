import type { Database } from 'bun:sqlite'
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

const columns = `user_code AS userCode, client, client_id AS clientId, address, status, user_id AS userId, polled_at AS polledAt,
  created_at AS createdAt, expires_at AS expiresAt`

/** How long a grant is still known after its end, so that the device can be told. */
const REMEMBERED_MS = 10 * 60_000

/** Adds a grant, and clears away those that are long over. @throws SQLiteError for a user code that another one waits with. */
export function insertGrant(db: Database, deviceCode: string, grant: Omit<StoredGrant, 'status' | 'userId' | 'polledAt'>): void {
  db.query('DELETE FROM device_grants WHERE expires_at <= ?').run(grant.createdAt - REMEMBERED_MS)
  db.query(
    `INSERT INTO device_grants (device_hash, user_code, client, client_id, address, status, created_at, expires_at)
     VALUES ($hash, $userCode, $client, $clientId, $address, 'pending', $createdAt, $expiresAt)`,
  ).run({ ...grant, hash: hashToken(deviceCode) })
}

/** How many grants of an address wait to be answered. */
export const countWaiting = (db: Database, address: string, now: number): number =>
  db
    .query<{ n: number }, [string, number]>(
      "SELECT count(*) AS n FROM device_grants WHERE address = ? AND status = 'pending' AND expires_at > ?",
    )
    .get(address, now)?.n ?? 0

/** The grant that a device asks about, over or not. */
export const findGrant = (db: Database, deviceCode: string): StoredGrant | undefined =>
  db.query<StoredGrant, [string]>(`SELECT ${columns} FROM device_grants WHERE device_hash = ?`).get(hashToken(deviceCode)) ?? undefined

/** The grant that a user was shown the code of, unless it is over. */
export const findGrantByUserCode = (db: Database, userCode: string, now: number): StoredGrant | undefined =>
  db
    .query<StoredGrant, [string, number]>(`SELECT ${columns} FROM device_grants WHERE user_code = ? AND expires_at > ?`)
    .get(userCode, now) ?? undefined

/** Whether a grant has this code, also one that is over and still remembered. */
export const isUserCodeTaken = (db: Database, userCode: string): boolean =>
  db.query('SELECT 1 FROM device_grants WHERE user_code = ?').get(userCode) !== null

/** Notes when a device has asked last, by which its next poll is judged. */
export function notePoll(db: Database, deviceCode: string, now: number): void {
  db.query('UPDATE device_grants SET polled_at = ? WHERE device_hash = ?').run(now, hashToken(deviceCode))
}

/** Writes down the user's answer. Only the first one counts. */
export function answerGrant(db: Database, userCode: string, answer: { status: Exclude<GrantStatus, 'pending'>; userId: string }): void {
  db.query("UPDATE device_grants SET status = $status, user_id = $userId WHERE user_code = $userCode AND status = 'pending'").run({
    userCode,
    ...answer,
  })
}

/** Takes an approved grant away, so that nobody gets its tokens twice. Tells whose it was. */
export const takeApproved = (db: Database, deviceCode: string): StoredGrant | undefined =>
  db
    .query<StoredGrant, [string]>(
      `DELETE FROM device_grants WHERE device_hash = ? AND status = 'approved' AND user_id IS NOT NULL RETURNING ${columns}`,
    )
    .get(hashToken(deviceCode)) ?? undefined
