import type { StoredBackup } from '../rows/backup-store.ts'

type Known = Pick<StoredBackup, 'status' | 'completedAt' | 'reason'>

interface Kept {
  backups: readonly Known[]
  problem: string | null
  copyProblem: string | null
  /** From when on one is expected; undefined where none is taken by itself. */
  expectedFrom: number | undefined
  now: number
}

const LATE_MS = 48 * 60 * 60_000

/** Why backups are not as they should be, in a sentence; undefined while they are. */
export function behindOf({ backups, problem, copyProblem, expectedFrom, now }: Kept): string | undefined {
  if (problem !== null) return `Its log is not streamed: ${problem}`
  const ended = backups.find(({ status }) => status === 'available' || status === 'failed' || status === 'damaged')
  if (ended?.status === 'damaged') return `Its newest backup is damaged: ${ended.reason ?? 'it differs from its manifest'}`
  if (ended?.status === 'failed') return `Its newest backup failed: ${ended.reason ?? 'nobody knows why'}`
  if (copyProblem !== null) return `They do not get to the bucket: ${copyProblem}`
  if (expectedFrom === undefined) return undefined
  const { completedAt = null } = backups.find(({ status }) => status === 'available') ?? {}
  if (now - (completedAt ?? expectedFrom) < LATE_MS) return undefined
  return completedAt === null ? 'There is no backup of it yet.' : `Its newest backup is of ${new Date(completedAt).toISOString()}.`
}
