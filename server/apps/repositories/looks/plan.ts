import type { BranchLook } from '../look-store.ts'

const LOOK_MS = 5 * 60_000
/** A branch that cannot be looked at is looked at more and more seldom, down to this. */
const SELDOM_MS = 6 * 60 * 60_000
/** What begins at once does not stay so: pauses differ by up to this share. */
const SPREAD = 0.2

/** When to look again (ms since 1970), after so many failures in a row. `share` is between 0 and 1. */
export const nextLookAt = (now: number, { failures, share }: { failures: number; share: number }): number =>
  now + Math.round(Math.min(SELDOM_MS, LOOK_MS * 2 ** failures) * (1 - SPREAD * share))

export type Found = { kind: 'at'; commitId: string } | { kind: 'gone' } | { kind: 'unreachable'; problem: string }

export interface Known {
  before: BranchLook | undefined
  newestCommit: string | null
}

/** Whether no push was taken in between. */
export const isSameKnown = (one: Known, other: Known): boolean =>
  one.before?.commitId === other.before?.commitId && one.newestCommit === other.newestCommit

/** What a look has shown that was not known. What a first look meets is no news: to deploy that is for people to begin. */
export function newsOf({ before, newestCommit }: Known, found: Found): 'moved' | 'gone' | 'none' {
  if (before === undefined || found.kind === 'unreachable') return 'none'
  if (found.kind === 'gone') return before.commitId === null ? 'none' : 'gone'
  return found.commitId === before.commitId || found.commitId === newestCommit ? 'none' : 'moved'
}

export function stateAfter({ before }: Pick<Known, 'before'>, found: Found): Pick<BranchLook, 'commitId' | 'problem' | 'failures'> {
  const failures = (before?.failures ?? 0) + 1
  switch (found.kind) {
    case 'at':
      return { commitId: found.commitId, problem: null, failures: 0 }
    case 'gone':
      return { commitId: null, problem: 'The branch is not in the repository.', failures }
    case 'unreachable':
      return { commitId: before?.commitId ?? null, problem: found.problem, failures }
  }
}
