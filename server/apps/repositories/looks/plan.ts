import type { Whereabouts } from '../access/whereabouts.ts'
import { BRANCH_GONE, type BranchLook } from '../look-store.ts'

const LOOK_MS = 5 * 60_000
/** A branch that cannot be looked at is looked at more and more seldom, down to this. */
const SELDOM_MS = 6 * 60 * 60_000
/** What begins at once does not stay so: pauses differ by up to this share. */
const SPREAD = 0.2
/** A host that was away for a moment is no event. */
const TOLD_AFTER_FAILURES = 2

/** When to look again (ms since 1970), after so many failures in a row. `share` is between 0 and 1. */
export const nextLookAt = (now: number, { failures, share }: { failures: number; share: number }): number =>
  now + Math.round(Math.min(SELDOM_MS, LOOK_MS * 2 ** failures) * (1 - SPREAD * share))

/** Whether a rename was gone after so shortly before that one more waits. A moment that is still to come is what a clock said that was ahead. */
export const isShortlyAfter = (renamedAt: number, now: number): boolean => renamedAt <= now && now - renamedAt < LOOK_MS

export type Found =
  | { kind: 'at'; commitId: string }
  | { kind: 'gone' }
  | { kind: 'unreachable'; problem: string }
  | Extract<Whereabouts, { kind: 'renamed' }>

export interface Known {
  before: BranchLook | undefined
  /** Whether people know that the repository cannot be reached: 1 or 0. */
  wasTold: number
  newestCommit: string | null
}

/** Whether no push was taken, and no other look made, in between. */
export const isSameKnown = (one: Known, other: Known): boolean =>
  one.before?.commitId === other.before?.commitId &&
  one.before?.failures === other.before?.failures &&
  one.newestCommit === other.newestCommit

type Settled = Exclude<Found, { kind: 'renamed' }>

/** What a look has shown that was not known. What a first look meets is no news: to deploy that is for people to begin. */
export function newsOf({ before, newestCommit }: Known, found: Settled): 'moved' | 'gone' | 'none' {
  if (before === undefined || found.kind === 'unreachable') return 'none'
  if (found.kind === 'gone') return before.commitId === null ? 'none' : 'gone'
  return found.commitId === before.commitId || found.commitId === newestCommit ? 'none' : 'moved'
}

export type LookState = Pick<BranchLook, 'commitId' | 'problem' | 'problemSince' | 'isTold' | 'failures'>

export function stateAfter({ before, wasTold }: Omit<Known, 'newestCommit'>, found: Settled, now: number): LookState {
  const failures = (before?.failures ?? 0) + 1
  switch (found.kind) {
    case 'at':
      return { commitId: found.commitId, problem: null, problemSince: null, isTold: 0, failures: 0 }
    case 'gone':
      return { commitId: null, problem: BRANCH_GONE, problemSince: sinceOf(before, { isGone: true, now }), isTold: 0, failures }
    case 'unreachable': {
      const isTold = failures >= TOLD_AFTER_FAILURES ? 1 : wasTold
      const problemSince = sinceOf(before, { isGone: false, now })
      return { commitId: before?.commitId ?? null, problem: found.problem, problemSince, isTold, failures }
    }
  }
}

function sinceOf(before: BranchLook | undefined, { isGone, now }: { isGone: boolean; now: number }): number {
  const isSame = before !== undefined && before.problem !== null && (before.problem === BRANCH_GONE) === isGone
  return (isSame ? before.problemSince : null) ?? now
}

/** What is told once of a repository that was reached before, and once of one that was not. */
export function reachNews(
  { wasTold }: Pick<Known, 'wasTold'>,
  { isTold }: LookState,
): 'repository_unreachable' | 'repository_reachable' | undefined {
  if (isTold === wasTold) return undefined
  return isTold === 1 ? 'repository_unreachable' : 'repository_reachable'
}
