import type { AppContext } from '../../context.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { backupsOf } from '../rows/backup-store.ts'
import { backupSetOf } from '../rows/set-store.ts'
import { behindOf } from '../rules/behind.ts'

export function backupProblemOf(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { id, phase, suspendedBy, primaryId, createdAt }: StoredDatastore,
  { isExpected }: { isExpected: boolean },
): { backupProblem?: string } {
  if (phase !== 'ready' || suspendedBy !== null || primaryId !== null) return {}
  const expectedFrom = isExpected ? createdAt : undefined
  const { problem = null, copyProblem = null } = backupSetOf(db, id) ?? {}
  const backupProblem = behindOf({ backups: backupsOf(db, id), problem, copyProblem, expectedFrom, now: now() })
  return backupProblem === undefined ? {} : { backupProblem }
}
