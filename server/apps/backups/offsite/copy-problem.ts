/** What a bucket does not take at once it takes a moment later, as a rule. */
const TOLD_AFTER_MS = 5 * 60_000
/** A first backup of gigabytes takes its time on a slow line. */
const SLOW_AFTER_MS = 2 * 60 * 60_000

const SLOW = 'The bucket takes files slower than there are new ones: what it has is hours behind.'

export interface Copying {
  now: number
  startedAt: number
  /** Since when the oldest file has waited; undefined where none waits. */
  waitingSince: number | undefined
  /** What the bucket said last to who copied; undefined where it took everything. */
  problem: string | undefined
  told: string | null
}

/** What is to be told of copies at the bucket: that they do not come, in words, or null for what is as it should be. */
export function copyProblem({ now, startedAt, waitingSince, problem, told }: Copying): string | null {
  if (waitingSince === undefined) return null
  const waitedMs = now - Math.max(waitingSince, startedAt)
  if (problem !== undefined && waitedMs >= TOLD_AFTER_MS) return told ?? problem
  if (problem === undefined && waitedMs >= SLOW_AFTER_MS) return told ?? SLOW
  return told
}
