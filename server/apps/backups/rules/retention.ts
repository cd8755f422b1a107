import { chainOf, type Link } from './chain.ts'
import { segmentNumberAt } from './wal-names.ts'

const FAILED_KEPT_MS = 7 * 24 * 60 * 60_000
/** How long backups of what was deleted are kept. */
const DELETED_KEPT_MS = 7 * 24 * 60 * 60_000

export const keptUntilOf = (deletedAt: number): number => deletedAt + DELETED_KEPT_MS
export const deletedAtOf = (keptUntil: number): number => keptUntil - DELETED_KEPT_MS

export interface Retention {
  remove: string[]
  /** By lineage: segments of its log with lower numbers are needed by no backup that is kept. None for a lineage without any. */
  walFrom: ReadonlyMap<number, number>
}

type Known = Link & { endLsn: string | null; lineage: number }

/**
 * Keeps what it takes to go back to any moment since `since` (ms since 1970): the backups from then on, the last one before, and all that
 * they are differences to. The newest sound ones always stay, `least` of them: a clock that jumps ahead must not take all history along. A
 * backup that is being taken is left alone.
 */
export function retain(backups: readonly Known[], { since, now, least }: { since: number; now: number; least: number }): Retention {
  const sound = backups.filter(({ id }) => chainOf(backups, id) !== undefined)
  const byAge = sound.toSorted((a, b) => (a.completedAt ?? 0) - (b.completedAt ?? 0))
  const lastBefore = byAge.findLast(({ completedAt }) => (completedAt ?? 0) <= since)
  const wanted = byAge.filter(
    (backup, index) => (backup.completedAt ?? 0) > since || backup === lastBefore || index >= byAge.length - least,
  )
  const kept = new Set(wanted.flatMap(({ id }) => chainOf(backups, id) ?? []).map(({ id }) => id))
  const isOver = ({ id, status, createdAt }: Known): boolean => {
    if (status === 'creating') return false
    if (status === 'failed' || status === 'damaged') return createdAt + FAILED_KEPT_MS <= now
    return !kept.has(id)
  }
  const walFrom = new Map<number, number>()
  for (const { startLsn, lineage } of wanted)
    if (startLsn !== null) walFrom.set(lineage, Math.min(walFrom.get(lineage) ?? Number.POSITIVE_INFINITY, segmentNumberAt(startLsn)))
  return { remove: backups.filter(isOver).map(({ id }) => id), walFrom }
}
