import type { CheckWait } from '../../repositories/wait-store.ts'
import type { CommitChecks } from '../port.ts'

const LOOK_MS = 3 * 60_000
const LONGEST_WAIT_MS = 24 * 60 * 60_000
/** Jobs that follow on others are there some seconds after those have passed. */
export const SETTLE_MS = 10_000
/** A host that tells of each job is not asked after each. */
const REST_MS = 3000
const MAX_NAME_CHARS = 100

/** What a look has shown: the checks, that there is nobody to ask, or why the host does not say, which may have to be left alone for a while (ms since 1970). */
export type SeenChecks = CommitChecks | { state: 'nobody' } | { state: 'unreachable'; problem: string; restsUntil: number }

export type Step = { do: 'deploy' } | { do: 'ignore'; reason: string } | { do: 'wait'; change: Partial<CheckWait> & { nextLookAt: number } }

export function stepAfter(wait: CheckWait, seen: SeenChecks, now: number): Step {
  switch (seen.state) {
    case 'nobody':
      return { do: 'ignore', reason: 'Nobody tells of its checks: connect the host of the repository by cpctl sourcehost connect.' }
    case 'failed':
      return { do: 'ignore', reason: `Its check ${seen.check.slice(0, MAX_NAME_CHARS)} has failed.` }
    case 'passed':
      return passed(wait, now)
    case 'pending':
      return waitOn(wait, { now, lookAt: now + LOOK_MS, reason: 'Its checks have not passed within a day.' })
    case 'unreachable': {
      const reason = `Nobody could tell within a day whether its checks have passed. ${seen.problem}`
      return waitOn(wait, { now, lookAt: Math.max(now + LOOK_MS, seen.restsUntil), reason })
    }
  }
}

function passed({ passedAt }: CheckWait, now: number): Step {
  if (passedAt !== null && now - passedAt >= SETTLE_MS) return { do: 'deploy' }
  const since = passedAt ?? now
  return { do: 'wait', change: { passedAt: since, lookedAt: now, nextLookAt: since + SETTLE_MS } }
}

function waitOn({ beganAt }: CheckWait, { now, lookAt, reason }: { now: number; lookAt: number; reason: string }): Step {
  const endsAt = beganAt + LONGEST_WAIT_MS
  if (now >= endsAt) return { do: 'ignore', reason }
  return { do: 'wait', change: { passedAt: null, lookedAt: now, nextLookAt: Math.min(endsAt, lookAt) } }
}

/** When to look after the host has told of a check (ms since 1970). */
export const wokenLookAt = ({ nextLookAt, lookedAt }: CheckWait, now: number): number =>
  Math.min(nextLookAt, Math.max(now, lookedAt + REST_MS))
