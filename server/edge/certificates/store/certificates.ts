import type { Database } from 'bun:sqlite'
import type { CertificateState } from '../../../../shared/certificate.ts'

export type CertificateSource = 'acme' | 'uploaded' | 'self_signed'

/** Row of a certificate. Times are milliseconds since 1970; `chain` is PEM, the host's own first, and the PEM key is sealed for `keyPurpose(id)`. */
export interface StoredCertificate {
  id: string
  /** `*.…` for a wildcard; empty for the self-signed stand-in. */
  host: string
  source: CertificateSource
  /** URL of the authority's directory; empty where none issued it. */
  directory: string
  domainId: string | null
  chain: string
  keySealed: string
  issuer: string
  notBefore: number
  notAfter: number
  warnedAt: number | null
  removedAt: number | null
  revokeAttempts: number
  nextRevokeAt: number
  createdAt: number
}

const COLUMNS = `id, host, source, directory, domain_id AS domainId, chain, key_sealed AS keySealed, issuer, not_before AS notBefore, not_after AS notAfter,
  warned_at AS warnedAt, removed_at AS removedAt, revoke_attempts AS revokeAttempts, next_revoke_at AS nextRevokeAt, created_at AS createdAt`

/** Returns every certificate, oldest first, also those that wait to be revoked. */
export const allCertificates = (db: Database): StoredCertificate[] =>
  db.query<StoredCertificate, []>(`SELECT ${COLUMNS} FROM certificates ORDER BY id`).all()

export const certificateById = (db: Database, id: string): StoredCertificate | undefined =>
  db.query<StoredCertificate, [string]>(`SELECT ${COLUMNS} FROM certificates WHERE id = ?`).get(id) ?? undefined

/** Returns those in use for a host: at most one from the authority and one uploaded. */
export const certificatesFor = (db: Database, host: string): StoredCertificate[] =>
  db.query<StoredCertificate, [string]>(`SELECT ${COLUMNS} FROM certificates WHERE host = ? AND removed_at IS NULL`).all(host)

export type NewCertificate = Pick<
  StoredCertificate,
  'id' | 'host' | 'source' | 'directory' | 'domainId' | 'chain' | 'keySealed' | 'issuer' | 'notBefore' | 'notAfter' | 'createdAt'
>

/** Replaces the certificate of its host and source. Belongs in a transaction. */
export function replaceCertificate(db: Database, certificate: NewCertificate): void {
  db.query('DELETE FROM certificates WHERE host = ? AND source = ? AND removed_at IS NULL').run(certificate.host, certificate.source)
  insertCertificate(db, certificate, null)
}

export const keepForRevocation = (db: Database, certificate: NewCertificate): void =>
  insertCertificate(db, certificate, certificate.createdAt)

function insertCertificate(db: Database, certificate: NewCertificate, removedAt: number | null): void {
  db.query(
    `INSERT INTO certificates (id, host, source, directory, domain_id, chain, key_sealed, issuer, not_before, not_after, removed_at, created_at)
     VALUES ($id, $host, $source, $directory, $domainId, $chain, $keySealed, $issuer, $notBefore, $notAfter, $removedAt, $createdAt)`,
  ).run({ ...certificate, removedAt })
}

export const markRemoved = (db: Database, id: string, now: number): void =>
  void db.query('UPDATE certificates SET removed_at = ? WHERE id = ? AND removed_at IS NULL').run(now, id)

export const markWarned = (db: Database, id: string, now: number): void =>
  void db.query('UPDATE certificates SET warned_at = ? WHERE id = ?').run(now, id)

export const postponeRevocation = (db: Database, id: string, nextRevokeAt: number): void =>
  void db.query('UPDATE certificates SET revoke_attempts = revoke_attempts + 1, next_revoke_at = ? WHERE id = ?').run(nextRevokeAt, id)

export const deleteCertificate = (db: Database, id: string): boolean =>
  db.query('DELETE FROM certificates WHERE id = ?').run(id).changes > 0

/** Returns whether a host, or the wildcard over it, has a certificate that people can trust. */
export const hasCertificate = (db: Database, host: string): boolean =>
  db
    .query<{ id: string }, [string, string]>('SELECT id FROM certificates WHERE host IN (?, ?) AND removed_at IS NULL LIMIT 1')
    .get(host, wildcardOver(host)) !== null

interface StateRow {
  source: CertificateSource
  issuer: string
  not_after: number
}

/** Returns the state that owners see: ended certificates last, then uploaded before obtained, a host's own before the wildcard. `error` is why the latest try failed. */
export function certificateOf(db: Database, host: string): CertificateState {
  const wildcard = wildcardOver(host)
  const row = db
    .query<StateRow, [string, string]>(
      `SELECT source, issuer, not_after FROM certificates WHERE host IN (?, ?) AND removed_at IS NULL
       ORDER BY not_after > unixepoch() * 1000 DESC, source = 'uploaded' DESC, host LIKE '*%' LIMIT 1`,
    )
    .get(host, wildcard)
  const order = db
    .query<{ last_error: string | null }, [string, string]>(
      "SELECT last_error FROM certificate_orders WHERE host IN (?, ?) ORDER BY host LIKE '*%' LIMIT 1",
    )
    .get(host, wildcard)
  const error = order?.last_error == null ? {} : { error: order.last_error }
  if (row === null) return { status: order === null ? 'none' : order.last_error === null ? 'pending' : 'failed', ...error }
  const status = row.source === 'uploaded' ? 'uploaded' : 'issued'
  return { status, issuer: row.issuer, expiresAt: new Date(row.not_after).toISOString(), ...error }
}

const wildcardOver = (host: string): string => `*${host.slice(host.indexOf('.'))}`
