import type { Database } from 'bun:sqlite'
import type { SourceHostName } from '../../../../shared/source-host.ts'

const KEPT_MS = 24 * 60 * 60_000

export interface Delivery {
  provider: SourceHostName
  deliveryId: string
  signature: string
}

/** Writes down that a delivery is taken; false where it was taken within the last day, or another with the same body. */
export function takeDelivery(db: Database, { provider, deliveryId, signature }: Delivery, now: number): boolean {
  db.query('DELETE FROM source_host_deliveries WHERE taken_at < ?').run(now - KEPT_MS)
  return (
    db
      .query('INSERT INTO source_host_deliveries (provider, delivery_id, signature, taken_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
      .run(provider, deliveryId, signature, now).changes > 0
  )
}
