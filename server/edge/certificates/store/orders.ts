import type { Database } from 'bun:sqlite'

/** What a later control plane needs to take an order up. The PEM key is sealed for `keyPurpose(certificateId)`. */
export interface OrderUnderWay {
  directory: string
  orderUrl: string
  certificateId: string
  keySealed: string
}

/** A host that is to get a certificate. Times are milliseconds since 1970; `attempts` counts failures in a row. */
export interface StoredOrder {
  host: string
  serviceId: string | null
  underWay: OrderUnderWay | undefined
  attempts: number
  nextAttemptAt: number
  lastError: string | null
}

interface OrderRow {
  host: string
  service_id: string | null
  directory: string | null
  order_url: string | null
  certificate_id: string | null
  key_sealed: string | null
  attempts: number
  next_attempt_at: number
  last_error: string | null
}

export const allOrders = (db: Database): StoredOrder[] =>
  db.query<OrderRow, []>('SELECT * FROM certificate_orders ORDER BY created_at, host').all().map(present)

export function orderFor(db: Database, host: string): StoredOrder | undefined {
  const row = db.query<OrderRow, [string]>('SELECT * FROM certificate_orders WHERE host = ?').get(host)
  return row === null ? undefined : present(row)
}

/** Adds a host to the queue; one that stands there keeps its place and its failures. */
export function addOrder(db: Database, { host, serviceId }: Pick<StoredOrder, 'host' | 'serviceId'>, now: number): void {
  db.query(
    `INSERT INTO certificate_orders (host, service_id, next_attempt_at, created_at) VALUES ($host, $serviceId, $now, $now)
     ON CONFLICT (host) DO UPDATE SET service_id = excluded.service_id`,
  ).run({ host, serviceId, now })
}

export const deleteOrder = (db: Database, host: string): boolean =>
  db.query('DELETE FROM certificate_orders WHERE host = ?').run(host).changes > 0

export function keepUnderWay(db: Database, host: string, { directory, orderUrl, certificateId, keySealed }: OrderUnderWay): void {
  db.query(
    `UPDATE certificate_orders SET directory = $directory, order_url = $orderUrl, certificate_id = $certificateId, key_sealed = $keySealed
     WHERE host = $host`,
  ).run({ host, directory, orderUrl, certificateId, keySealed })
}

/** Lets the next try begin with a new order. */
export const forgetUnderWay = (db: Database, host: string): void =>
  void db
    .query('UPDATE certificate_orders SET directory = NULL, order_url = NULL, certificate_id = NULL, key_sealed = NULL WHERE host = ?')
    .run(host)

/** Writes down why a try failed and when the next one is due. */
export function postponeOrder(
  db: Database,
  host: string,
  { lastError, nextAttemptAt }: { lastError: string; nextAttemptAt: number },
): void {
  db.query(
    'UPDATE certificate_orders SET attempts = attempts + 1, last_error = $lastError, next_attempt_at = $nextAttemptAt WHERE host = $host',
  ).run({ host, lastError, nextAttemptAt })
}

function present(row: OrderRow): StoredOrder {
  const { directory, order_url: orderUrl, certificate_id: certificateId, key_sealed: keySealed } = row
  const isUnderWay = directory !== null && orderUrl !== null && certificateId !== null && keySealed !== null
  return {
    host: row.host,
    serviceId: row.service_id,
    underWay: isUnderWay ? { directory, orderUrl, certificateId, keySealed } : undefined,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    lastError: row.last_error,
  }
}
