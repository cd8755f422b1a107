import type { Database } from 'bun:sqlite'
import { AppError } from '../../../../shared/error.ts'

const KEPT_MS = 24 * 60 * 60_000
/** Deliveries of one sender that are kept: some hundred bytes each, and one every four seconds. */
export const MAX_DELIVERIES = 20_000

export interface Delivery {
  /** The app or the connection whose secret it is signed with: what others send has no say in what is known of it. */
  sender: string
  deliveryId: string
  signature: string
}

/** Writes down that a delivery is taken. @throws AppError conflict where it was within the last day, or another with the same body; rate_limited where its sender has sent too many since. */
export function takeDelivery(db: Database, { sender, deliveryId, signature }: Delivery, now: number): void {
  db.query('DELETE FROM source_host_deliveries WHERE taken_at < ?').run(now - KEPT_MS)
  const kept = db.query<{ count: number }, [string]>('SELECT count(*) AS count FROM source_host_deliveries WHERE sender = ?').get(sender)
  if ((kept?.count ?? 0) >= MAX_DELIVERIES)
    throw new AppError('rate_limited', `More than ${MAX_DELIVERIES} deliveries of one day are not taken.`, { retryAfterSeconds: 3600 })
  const { changes } = db
    .query('INSERT INTO source_host_deliveries (sender, delivery_id, signature, taken_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
    .run(sender, deliveryId, signature, now)
  if (changes === 0) throw new AppError('conflict', 'This delivery was taken already.')
}
