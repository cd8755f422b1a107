import type { Database } from 'bun:sqlite'
import { type CustomDomainQuery, DomainCheck, type DomainType } from '../../../shared/custom-domain.ts'
import { orNull } from '../../platform/db/codec.ts'
import { json } from '../../platform/db/json-column.ts'

export interface StoredDomain {
  id: string
  serviceId: string
  /** Host name in lower case and punycode, without a dot at its end; all times are milliseconds since 1970. */
  name: string
  domainType: DomainType
  publicSuffix: string
  registrable: string
  challenge: string
  verifiedAt: number | null
  watchedUntil: number
  requestedAt: number | null
  checkedAt: number | null
  check: DomainCheck | null
  createdAt: number
}

const checks = orNull(json({ schema: DomainCheck }))

type DomainRow = Omit<StoredDomain, 'check'> & { checkResult: string | null }

const COLUMNS = `d.id, d.service_id AS serviceId, d.name, d.domain_type AS domainType, d.public_suffix AS publicSuffix, d.registrable,
  d.challenge, d.verified_at AS verifiedAt, d.watched_until AS watchedUntil, d.requested_at AS requestedAt, d.checked_at AS checkedAt,
  d.check_result AS checkResult, d.created_at AS createdAt`

export interface VerifiedDomain {
  id: string
  name: string
  serviceId: string
}

/** Returns what is routed and may have a certificate: verified domains of services that are not being deleted, by name. */
export const verifiedDomains = (db: Database): VerifiedDomain[] =>
  db
    .query<VerifiedDomain, []>(
      `SELECT d.id, d.name, d.service_id AS serviceId FROM custom_domains d JOIN services s ON s.id = d.service_id
       WHERE d.verified_at IS NOT NULL AND s.deleted_at IS NULL ORDER BY d.name`,
    )
    .all()

export type DomainFilter = CustomDomainQuery & { beforeId: string | undefined; limit: number }

/** Returns domains newest first, those before `beforeId`. Names are in the form they are kept in. */
export const listDomains = (db: Database, serviceId: string, filter: DomainFilter): StoredDomain[] =>
  db
    .query<DomainRow, Record<string, string | number | null>>(
      `SELECT ${COLUMNS} FROM custom_domains d WHERE d.service_id = $serviceId
       AND ($names IS NULL OR d.name IN (SELECT value FROM json_each($names)))
       AND ($domainType IS NULL OR d.domain_type = $domainType)
       AND ($status IS NULL OR (d.verified_at IS NOT NULL) = ($status = 'verified'))
       AND d.created_at < $createdBefore AND d.created_at > $createdAfter
       AND ($beforeId IS NULL OR d.id < $beforeId)
       ORDER BY d.id DESC LIMIT $limit`,
    )
    .all({
      serviceId,
      names: filter.name === undefined ? null : JSON.stringify(filter.name),
      domainType: filter.domainType ?? null,
      status: filter.verificationStatus ?? null,
      createdBefore: filter.createdBefore === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(filter.createdBefore),
      createdAfter: filter.createdAfter === undefined ? -1 : Date.parse(filter.createdAfter),
      beforeId: filter.beforeId ?? null,
      limit: filter.limit,
    })
    .map(present)

/** A domain of this service by its id or name; undefined where it has none such. */
export const findDomain = (db: Database, serviceId: string, idOrName: string): StoredDomain | undefined =>
  one(
    db
      .query<DomainRow, [string, string]>(`SELECT ${COLUMNS} FROM custom_domains d WHERE d.service_id = ?1 AND (d.id = ?2 OR d.name = ?2)`)
      .get(serviceId, idOrName),
  )

/** Returns any service's domain: for the platform's own work, never for a caller. */
export const domainById = (db: Database, id: string): StoredDomain | undefined =>
  one(db.query<DomainRow, [string]>(`SELECT ${COLUMNS} FROM custom_domains d WHERE d.id = ?`).get(id))

/** Returns any service's domain: for the platform's own work, never for a caller. */
export const domainNamed = (db: Database, name: string): StoredDomain | undefined =>
  one(db.query<DomainRow, [string]>(`SELECT ${COLUMNS} FROM custom_domains d WHERE d.name = ?`).get(name))

/** How many a workspace has, verified or not. */
export const countDomains = (db: Database, workspaceId: string): number =>
  db
    .query<{ count: number }, [string]>(
      'SELECT count(*) AS count FROM custom_domains d JOIN services s ON s.id = d.service_id WHERE s.workspace_id = ?',
    )
    .get(workspaceId)?.count ?? 0

/** Returns ids of domains to check now or later: asked for, or unverified and watched still. */
export const domainsToCheck = (db: Database, now: number): string[] =>
  db
    .query<{ id: string }, [number]>(
      `SELECT d.id FROM custom_domains d JOIN services s ON s.id = d.service_id WHERE s.deleted_at IS NULL
       AND (d.requested_at IS NOT NULL OR (d.verified_at IS NULL AND d.watched_until > ?))`,
    )
    .all(now)
    .map((row) => row.id)

/** Returns whether another workspace holds a verified name below the same registered one. */
export const isSharedWithOthers = (db: Database, registrable: string, workspaceId: string): boolean =>
  db
    .query<{ id: string }, [string, string]>(
      `SELECT d.id FROM custom_domains d JOIN services s ON s.id = d.service_id
       WHERE d.registrable = ? AND d.verified_at IS NOT NULL AND s.workspace_id <> ? LIMIT 1`,
    )
    .get(registrable, workspaceId) !== null

export type NewDomain = Pick<
  StoredDomain,
  'id' | 'serviceId' | 'name' | 'domainType' | 'publicSuffix' | 'registrable' | 'challenge' | 'watchedUntil' | 'createdAt'
>

/** Adds an unverified domain. Belongs in the transaction that found the name free. */
export function insertDomain(db: Database, domain: NewDomain): void {
  db.query(
    `INSERT INTO custom_domains (id, service_id, name, domain_type, public_suffix, registrable, challenge, watched_until, created_at)
     VALUES ($id, $serviceId, $name, $domainType, $publicSuffix, $registrable, $challenge, $watchedUntil, $createdAt)`,
  ).run({ ...domain })
}

/** Asks for a check, which runs soon, also after a restart. */
export const requestCheck = (db: Database, id: string, now: number): void =>
  void db.query('UPDATE custom_domains SET requested_at = ? WHERE id = ?').run(now, id)

/** Keeps the result of a check that began at `beganAt`; a later request stays open. */
export function saveCheck(db: Database, id: string, { check, beganAt, now }: { check: DomainCheck; beganAt: number; now: number }): void {
  db.query(
    `UPDATE custom_domains SET checked_at = $now, check_result = $result,
     requested_at = CASE WHEN requested_at > $beganAt THEN requested_at END WHERE id = $id`,
  ).run({ id, now, beganAt, result: JSON.stringify(check) })
}

/** Returns whether it was unverified before. */
export const markVerified = (db: Database, id: string, now: number): boolean =>
  db.query('UPDATE custom_domains SET verified_at = ? WHERE id = ? AND verified_at IS NULL').run(now, id).changes > 0

/** Removes a domain; false when it was gone already. */
export const deleteDomain = (db: Database, id: string): boolean => db.query('DELETE FROM custom_domains WHERE id = ?').run(id).changes > 0

/** Removes all domains of a service. */
export const deleteDomainsOf = (db: Database, serviceId: string): void =>
  void db.query('DELETE FROM custom_domains WHERE service_id = ?').run(serviceId)

const one = (row: DomainRow | null): StoredDomain | undefined => (row === null ? undefined : present(row))

function present({ checkResult, ...row }: DomainRow): StoredDomain {
  return { ...row, check: checks.read(checkResult) }
}
