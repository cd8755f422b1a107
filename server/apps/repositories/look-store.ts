import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'

/** What is known of the branch of a service. Times are milliseconds since 1970. */
export interface BranchLook {
  serviceId: string
  repository: string
  branch: string
  /** Where the branch stood when it was last looked at or told of; null where it was not there. */
  commitId: string | null
  problem: string | null
  problemSince: number | null
  /** 1 where an event has told that the repository cannot be reached, and none since that it can; 0 otherwise. */
  isTold: number
  failures: number
  nextAt: number
}

type LookedAt = Pick<BranchLook, 'serviceId' | 'repository' | 'branch'>

const looks = tableOf<BranchLook>('branch_looks', {
  serviceId: 'service_id',
  repository: 'repository',
  branch: 'branch',
  commitId: 'commit_id',
  problem: 'problem',
  problemSince: 'problem_since',
  isTold: 'is_told',
  failures: 'failures',
  nextAt: 'next_at',
})

/** How the last look at a service's branch went; undefined where there was none, or one at another branch or repository. */
export const lookAt = (db: Database, of: LookedAt): BranchLook | undefined =>
  looks.get(db, 'WHERE service_id = $serviceId AND repository = $repository AND branch = $branch', { ...of })

/** Whether an event has told that a service's repository cannot be reached, be it this one or the one before, and none since that it can: 1 or 0. */
export const isTroubleTold = (db: Database, serviceId: string): number =>
  looks.get(db, 'WHERE service_id = $serviceId', { serviceId })?.isTold ?? 0

/** Writes down how a look went, in place of the one before. */
export const putLook = (db: Database, look: BranchLook): void => looks.put(db, look)

/** What is wrong with a repository in which the branch is not found. */
export const BRANCH_GONE = 'The branch is not in the repository.'

/**
 * Writes down where a branch stands at `now`, null where it is gone, so that no look takes that for news. The next look stays when it was, and is
 * due where the last one has failed. What keeps git out goes on: a host tells of pushes to a repository that it does not let us into any more.
 */
export function noteCommit(db: Database, of: LookedAt, { commitId, now }: { commitId: string | null; now: number }): void {
  const before = lookAt(db, of)
  const isKeptOut = before !== undefined && before.problem !== null && before.problem !== BRANCH_GONE
  const state = isKeptOut ? before : commitId === null ? { problem: BRANCH_GONE, problemSince: now } : noProblem
  const isTold = isTroubleTold(db, of.serviceId)
  const nextAt = before === undefined || before.failures > 0 ? 0 : before.nextAt
  putLook(db, { ...of, failures: 0, ...state, isTold, commitId, nextAt })
}

const noProblem = { problem: null, problemSince: null }

/** Has branches that could not be looked at be looked at soon: those of a workspace, or of one service. */
export function retryLooks(db: Database, of: { workspaceId: string } | { serviceId: string }, now: number): void {
  const [where, id] =
    'serviceId' in of
      ? ['service_id = ?', of.serviceId]
      : ['service_id IN (SELECT id FROM services WHERE workspace_id = ?)', of.workspaceId]
  db.query(`UPDATE branch_looks SET next_at = min(next_at, ?) WHERE problem IS NOT NULL AND ${where}`).run(now, id)
}

/** Has all branches be looked at that could be looked at last, as at a start: nobody has taken what hosts told meanwhile. */
export const lookAtAll = (db: Database, now: number): void =>
  void db.query('UPDATE branch_looks SET next_at = min(next_at, ?) WHERE failures = 0').run(now)
