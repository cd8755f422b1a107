import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'

/** A commit that a service deploys once its checks have passed. Times are milliseconds since 1970. */
export interface CheckWait {
  serviceId: string
  /** What the service was deployed from when it was pushed: repository and branch as they stand in its labels. */
  repository: string
  branch: string
  pushedBranch: string
  commitId: string
  message: string
  beganAt: number
  lookedAt: number
  nextLookAt: number
  passedAt: number | null
  /** What it waits for, as people read it. */
  awaits: string
  /** When a check of it has failed, whose next run may pass. */
  failedAt: number | null
}

const waits = tableOf<CheckWait>('check_waits', {
  serviceId: 'service_id',
  repository: 'repository',
  branch: 'branch',
  pushedBranch: 'pushed_branch',
  commitId: 'commit_id',
  message: 'message',
  beganAt: 'began_at',
  lookedAt: 'looked_at',
  nextLookAt: 'next_look_at',
  passedAt: 'passed_at',
  awaits: 'awaits',
  failedAt: 'failed_at',
})

/** The commit that a service waits to deploy; undefined where there is none. */
export const waitOf = (db: Database, serviceId: string): CheckWait | undefined =>
  waits.get(db, 'WHERE service_id = $serviceId', { serviceId })

/** What any service waits for. */
export const allWaits = (db: Database): CheckWait[] => waits.all(db, 'ORDER BY service_id', {})

/** The waits of services for a commit. */
export const waitsFor = (db: Database, commitId: string): CheckWait[] =>
  waits.all(db, 'WHERE commit_id = $commitId ORDER BY service_id', { commitId })

/** Has a service wait from now on, in place of what it waited for. A wait for the same commit goes on. Returns whether one has begun. */
export function beginWait(
  db: Database,
  wait: Pick<CheckWait, 'serviceId' | 'repository' | 'branch' | 'pushedBranch' | 'commitId' | 'message'>,
  now: number,
): boolean {
  const before = waitOf(db, wait.serviceId)
  if (before?.commitId === wait.commitId && before.repository === wait.repository && before.branch === wait.branch) return false
  waits.put(db, { ...wait, beganAt: now, lookedAt: 0, nextLookAt: now, passedAt: null, awaits: 'its checks', failedAt: null })
  return true
}

/** Changes what is named of a wait, unless another has taken its place. */
export const changeWait = (db: Database, { serviceId, commitId }: CheckWait, change: Partial<CheckWait>): void =>
  void waits.update(db, { serviceId, commitId }, change)

/** Ends whatever a service waits for. */
export const endWait = (db: Database, serviceId: string): void => void waits.remove(db, { serviceId })
