import { chainOf, type Link } from './chain.ts'

const HOUR_MS = 60 * 60_000
export const DAY_MS = 24 * HOUR_MS
const FULL_EVERY_MS = 7 * DAY_MS
const AGAIN_AFTER_FAILURE_MS = HOUR_MS
/** Putting together takes as long as there are links. */
const MAX_LINKS = 8

export type DueBackup = { kind: 'full' } | { kind: 'incremental'; parentId: string }

export interface Due {
  at: number
  backup: DueBackup
}

type Known = Link & { origin: string }

/** The next backup that is taken by itself: a full one weekly, the difference to the one before daily. `backups` are newest first. */
export function nextBackup(all: readonly Known[], { now, canBeIncremental }: { now: number; canBeIncremental: boolean }): Due {
  const backups = all.filter((backup) => isOfThePast(backup, now))
  const sound = backups.filter(({ id }) => chainOf(backups, id) !== undefined)
  const [last] = sound
  const failedAt = backups[0]?.status === 'failed' ? backups[0].createdAt + AGAIN_AFTER_FAILURE_MS : 0
  const fullAt = fullDueAt(backups, sound, now)
  if (last === undefined || fullAt <= now) return { at: Math.max(fullAt, failedAt), backup: { kind: 'full' } }
  // Where differences cannot be made any more, all of it is taken.
  if (backups[0]?.status === 'failed' && backups[0].kind === 'incremental') return { at: now, backup: { kind: 'full' } }
  const isLong = (chainOf(backups, last.id)?.length ?? 0) >= MAX_LINKS
  const dailyAt = Math.max(last.createdAt + DAY_MS, failedAt)
  if (!canBeIncremental || isLong) return { at: Math.min(Math.max(fullAt, failedAt), dailyAt), backup: { kind: 'full' } }
  return dailyAt <= fullAt
    ? { at: dailyAt, backup: { kind: 'incremental', parentId: last.id } }
    : { at: Math.max(fullAt, failedAt), backup: { kind: 'full' } }
}

/** The next snapshot of a key-value store that is taken by itself: daily, the first an hour after its beginning, never where nothing is kept. */
export function nextSnapshot(all: readonly Known[], { now, since, isWanted }: { now: number; since: number; isWanted: boolean }): Due {
  const backups = all.filter((backup) => isOfThePast(backup, now))
  const last = backups.find(({ status }) => status === 'available')
  const [newest] = backups
  const failedAt = newest?.status === 'failed' ? newest.createdAt + AGAIN_AFTER_FAILURE_MS : 0
  const isDamaged = backups.find(({ status }) => status === 'available' || status === 'damaged')?.status === 'damaged'
  const dueAt = isDamaged ? now : last === undefined ? Math.min(since, now) + HOUR_MS : last.createdAt + DAY_MS
  return { at: isWanted ? Math.max(dueAt, failedAt) : Number.POSITIVE_INFINITY, backup: { kind: 'full' } }
}

/** A clock that was ahead leaves backups of days to come, which say nothing of when the next is due. */
const isOfThePast = ({ createdAt }: Pick<Known, 'createdAt'>, now: number): boolean => createdAt <= now

/** At once where there is none, or where the newest was found damaged. */
function fullDueAt(backups: readonly Known[], sound: readonly Known[], now: number): number {
  const full = sound.find(({ kind }) => kind === 'full')
  const newest = backups.find(({ status }) => status === 'available' || status === 'damaged')
  if (full === undefined || newest?.status === 'damaged') return now
  return full.createdAt + FULL_EVERY_MS
}
