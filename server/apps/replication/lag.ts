import { parseLsn } from '../backups/rules/wal-names.ts'

export interface Replayed {
  lsn: string
  /** When the last transaction that it replayed was committed, in milliseconds since 1970. */
  committedAt: number | undefined
}

/** How far a follower is behind where its primary was a moment before it was asked, in milliseconds; undefined where that cannot be told. */
export function lagMs(primaryLsn: string, { lsn, committedAt }: Replayed, now: number): number | undefined {
  if (parseLsn(lsn) >= parseLsn(primaryLsn)) return 0
  return committedAt === undefined ? undefined : Math.max(0, now - committedAt)
}
