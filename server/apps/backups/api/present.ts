import type { Backup, Recovery } from '../../../../shared/backup.ts'
import type { AppContext } from '../../context.ts'
import type { StoredBackup } from '../rows/backup-store.ts'
import type { BackupSet } from '../rows/set-store.ts'
import { windowsOf } from '../rules/chain.ts'
import { lineagesOf, versionIn } from '../rules/lineages.ts'
import { DAY_MS } from '../rules/schedule.ts'
import { recoverableOf } from '../work/windows.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

/** `set` is of a database: it says of which major version the backup is. */
export function presentBackup({ id, kind, origin, status, ...backup }: StoredBackup, set?: BackupSet): Backup {
  const { createdAt, completedAt, parentId, plainBytes, verifiedAt, drilledAt, drillMs, reason } = backup
  return {
    ...{ id, kind, origin, status: status === 'deleting' ? 'failed' : status, createdAt: iso(createdAt) },
    ...(completedAt !== null && { completedAt: iso(completedAt) }),
    ...(parentId !== null && { parentId }),
    ...(plainBytes !== null && { sizeBytes: plainBytes }),
    ...(verifiedAt !== null && { verifiedAt: iso(verifiedAt) }),
    ...(drilledAt !== null && { restoredAt: iso(drilledAt) }),
    ...(drillMs !== null && { restoreSeconds: drillMs / 1000 }),
    ...(set?.kind === 'postgres' && { version: versionIn(set, backup.lineage) }),
    ...(reason !== null && { reason }),
  }
}

export interface Window {
  from: number
  until: number
  version: string
}

/** What can be recovered to: within what is promised, although what that takes may reach further back. */
export function promisedWindows(context: Pick<AppContext, 'db' | 'now' | 'config'>, set: BackupSet): Window[] {
  const since = context.now() - context.config.CP_BACKUP_RETENTION_DAYS * DAY_MS
  const all = recoverableOf(context, set)
  const windows = lineagesOf(set).flatMap(({ lineage, version }) =>
    windowsOf(all.filter(({ backup }) => backup.lineage === lineage)).map((window) => ({ ...window, version })),
  )
  return windows.filter(({ until }) => until >= since).map(({ from, ...window }) => ({ ...window, from: Math.max(from, since) }))
}

/** A database without any backup has no window, which is all that there is to say. */
export function presentRecovery(context: Pick<AppContext, 'db' | 'now' | 'config'>, set: BackupSet | undefined): Recovery {
  const windows = set === undefined ? [] : promisedWindows(context, set)
  const [first, last] = [windows[0], windows.at(-1)]
  return {
    recoveryStatus: first === undefined ? 'BACKUP_NOT_READY' : 'AVAILABLE',
    ...(first && last && { startsAt: iso(first.from), endsAt: iso(last.until) }),
    windows: windows.map(({ from, until, version }) => ({ startsAt: iso(from), endsAt: iso(until), version })),
    ...problemOf(set),
  }
}

function problemOf(set: BackupSet | undefined): Pick<Recovery, 'problem'> {
  const problems = [set?.problem, set?.copyProblem].filter((problem) => problem != null)
  return problems.length === 0 ? {} : { problem: problems.join(' ') }
}
