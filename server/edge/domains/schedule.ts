import type { StoredDomain } from './store.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** For this long after it was added, a domain is looked at by itself. New records are known everywhere within two days. */
export const WATCHED_MS = 3 * 24 * HOUR_MS
/** In its first hour each minute, as people sit and wait; hourly after that. */
const EAGER_MS = HOUR_MS

/** When the DNS of a domain is to be looked at next, in milliseconds since 1970; undefined for never, unless somebody asks. */
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
