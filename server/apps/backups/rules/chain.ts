import type { StoredBackup } from '../rows/backup-store.ts'
import { isSegment, segmentNumberAt, segmentNumberOf } from './wal-names.ts'

export type Link = Pick<StoredBackup, 'id' | 'kind' | 'parentId' | 'status' | 'startLsn' | 'createdAt' | 'completedAt'>

/** What has to be put together for a backup: the full one first, itself last. Undefined where one of them is not there or not sound. */
export function chainOf<T extends Link>(backups: readonly T[], id: string): T[] | undefined {
  const byId = new Map(backups.map((backup) => [backup.id, backup]))
  const chain: T[] = []
  for (let next: string | null = id; next !== null; ) {
    const backup = byId.get(next)
    if (backup === undefined || backup.status !== 'available' || chain.includes(backup)) return undefined
    chain.unshift(backup)
    next = backup.kind === 'full' ? null : (backup.parentId ?? '')
  }
  return chain
}

export interface WalSegment {
  segment: string
  createdAt: number
}

/** A backup and until when the log behind it is without a gap. Both in milliseconds since 1970. */
export interface Recoverable<T> {
  backup: T
  from: number
  until: number
}

/**
 * What can be recovered to, oldest first. `now` is until when the log is held of a datastore whose log is streamed: there is a gap where a
 * segment is missing, and none between the last stored one and what is streamed.
 */
export function recoverable<T extends Link>(backups: readonly T[], wal: readonly WalSegment[], now: number): Recoverable<T>[] {
  const storedAt = new Map<number, number>()
  let last = -1
  for (const { segment, createdAt } of wal) {
    if (!isSegment(segment)) continue
    const number = segmentNumberOf(segment)
    storedAt.set(number, createdAt)
    last = Math.max(last, number)
  }
  return backups
    .flatMap((backup) => {
      if (backup.completedAt === null || backup.startLsn === null || chainOf(backups, backup.id) === undefined) return []
      const missing = firstMissing(storedAt, segmentNumberAt(backup.startLsn))
      const until = missing > last ? now : (storedAt.get(missing - 1) ?? backup.completedAt)
      return [{ backup, from: backup.completedAt, until: Math.max(until, backup.completedAt) }]
    })
    .toSorted((a, b) => a.from - b.from)
}

function firstMissing(storedAt: ReadonlyMap<number, number>, from: number): number {
  let number = from
  while (storedAt.has(number)) number += 1
  return number
}

/** The backup with the least to be replayed up to a moment; undefined where the moment is in no window. */
export const backupFor = <T>(windows: readonly Recoverable<T>[], at: number): T | undefined =>
  windows.findLast(({ from, until }) => from <= at && at <= until)?.backup

/** Windows as people see them, those that meet made one, oldest first. */
export function windowsOf(windows: readonly Pick<Recoverable<unknown>, 'from' | 'until'>[]): { from: number; until: number }[] {
  const joined: { from: number; until: number }[] = []
  for (const { from, until } of windows) {
    const before = joined.at(-1)
    if (before !== undefined && from <= before.until) before.until = Math.max(before.until, until)
    else joined.push({ from, until })
  }
  return joined
}
