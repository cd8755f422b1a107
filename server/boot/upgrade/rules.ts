import type { UpgradeJournal } from './journal.ts'

export const BACKUPS_KEPT = 5

export interface Offer {
  running: string
  offered: string
  isForced: boolean
}

export function refusalOf({ running, offered, isForced }: Offer): string | undefined {
  if (isForced) return undefined
  const order = Bun.semver.order(offered, running)
  if (order > 0) return undefined
  const relation = order === 0 ? 'is the version that runs' : `is older than ${running}, which runs`
  return `${offered} ${relation}. Install it all the same with --force; an older version may not know the database.`
}

export function parseVersion(output: string): string | undefined {
  return /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.exec(output.trim())?.[0]
}

/** What a start has to do about an upgrade that was cut off: nothing, drop its files, go back, go on, or just note its end. */
export type Repair = 'none' | 'discard' | 'roll-back' | 'install' | 'conclude'

export function repairOf(journal: UpgradeJournal | undefined, isStagedThere: boolean): Repair {
  switch (journal?.step) {
    case 'staging':
      return 'discard'
    case 'trial':
      return 'roll-back'
    case 'commit':
      return isStagedThere ? 'install' : 'conclude'
    default:
      return 'none'
  }
}

/** Names of backups begin with their time, so that they sort by it. */
export const backupName = (at: Date, from: string): string => `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}-${from}`

export const backupsToRemove = (names: readonly string[]): string[] =>
  names
    .filter((name) => /^\d{8}T\d{6}-/.test(name))
    .sort()
    .slice(0, -BACKUPS_KEPT)

/** A path beside the executable: on the same file system, so that taking its place is one step. */
export const stagedPathOf = (executable: string): string => `${executable}.next`
export const previousPathOf = (executable: string): string => `${executable}.previous`
