import type { StoredDomain } from './store.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Time in which a new domain is checked by itself. New records are known everywhere within two days. */
export const WATCHED_MS = 3 * 24 * HOUR_MS
/** People sit and wait in the first hour, so DNS is checked each minute then, and hourly after that. */
const EAGER_MS = HOUR_MS

/** Returns when DNS is to be checked next, in milliseconds since 1970; undefined for never, unless somebody asks. */
export function nextCheckAt(
  domain: Pick<StoredDomain, 'requestedAt' | 'verifiedAt' | 'checkedAt' | 'watchedUntil' | 'createdAt'>,
  now: number,
): number | undefined {
  if (domain.requestedAt !== null) return now
  if (domain.verifiedAt !== null) return undefined
  if (domain.checkedAt === null) return now
  const pause = now - domain.createdAt < EAGER_MS ? MINUTE_MS : HOUR_MS
  const dueAt = domain.checkedAt + pause
  return dueAt <= domain.watchedUntil ? dueAt : undefined
}
