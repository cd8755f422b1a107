import type { Database } from 'bun:sqlite'
import type { Sealer } from '../../platform/secrets/seal.ts'
import type { IdempotencyStore, IdempotentRequest, StoredAnswer } from './idempotency.ts'

const KEPT_MS = 24 * 3600 * 1000

interface Row {
  requestHash: string
  status: number | null
  body: string | null
}

/** Answers are sealed, because that to "create a key" holds a secret. Claims of a dead process are freed: it had done nothing. */
export function createIdempotencyStore(db: Database, sealer: Sealer, now: () => number): IdempotencyStore {
  db.run('DELETE FROM idempotency_keys WHERE status IS NULL')
  const claim = db.transaction(({ scope, key, requestHash }: IdempotentRequest): Row | undefined => {
    const time = now()
    forgetOldKeys(db, time)
    const row = db
      .query<Row, [string, string]>('SELECT request_hash AS requestHash, status, body FROM idempotency_keys WHERE scope = ? AND key = ?')
      .get(scope, key)
    if (row !== null) return row
    db.query('INSERT INTO idempotency_keys (scope, key, request_hash, created_at) VALUES ($scope, $key, $requestHash, $time)').run({
      scope,
      key,
      requestHash,
      time,
    })
    return undefined
  })
  const purposeOf = ({ scope, key }: IdempotentRequest) => `idempotency ${scope} ${key}`

  return {
    begin(request) {
      const row = claim.immediate(request)
      if (row === undefined) return 'begun'
      if (row.requestHash !== request.requestHash) return 'other_request'
      if (row.status === null || row.body === null) return 'running'
      return { status: row.status, body: sealer.open(row.body, purposeOf(request)) }
    },
    finish(request, { status, body }: StoredAnswer) {
      db.query('UPDATE idempotency_keys SET status = $status, body = $body WHERE scope = $scope AND key = $key').run({
        scope: request.scope,
        key: request.key,
        status,
        body: sealer.seal(body, purposeOf(request)),
      })
    },
    abandon({ scope, key }) {
      db.query('DELETE FROM idempotency_keys WHERE scope = $scope AND key = $key AND status IS NULL').run({ scope, key })
    },
  }
}

/** Removes the keys whose time is over at `now`. */
export function forgetOldKeys(db: Database, now: number): void {
  db.query('DELETE FROM idempotency_keys WHERE created_at <= ?').run(now - KEPT_MS)
}
