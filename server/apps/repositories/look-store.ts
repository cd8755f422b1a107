import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'

/** What is known of the branch of a service. `nextAt` is in milliseconds since 1970. */
export interface BranchLook {
  serviceId: string
  repository: string
  branch: string
  /** Where the branch stood when it was last looked at or told of; null where it was not there. */
  commitId: string | null
  problem: string | null
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
  failures: 'failures',
  nextAt: 'next_at',
})

/** How the last look at a service's branch went; undefined where there was none, or one at another branch or repository. */
export const lookAt = (db: Database, of: LookedAt): BranchLook | undefined =>
  looks.get(db, 'WHERE service_id = $serviceId AND repository = $repository AND branch = $branch', { ...of })

/** Writes down how a look went, in place of the one before. */
export const putLook = (db: Database, look: BranchLook): void => looks.put(db, look)

/**
 * Writes down where a branch stands, null where it is gone, so that no look takes that for news. The next look stays when it was, and is due
 * where the last one has failed: what was in its way is gone.
 */
export function noteCommit(db: Database, of: LookedAt, commitId: string | null): void {
  const before = lookAt(db, of)
  const nextAt = before === undefined || before.failures > 0 ? 0 : before.nextAt
  putLook(db, { ...of, commitId, problem: null, failures: 0, nextAt })
}
