import type { CheckWait } from '../../repositories/wait-store.ts'
import type { CommitChecks } from '../port.ts'

const LOOK_MS = 3 * 60_000
/** Checks that have failed are run again when somebody asks for it, of which the host tells. */
const FAILED_LOOK_MS = 30 * 60_000
const LONGEST_WAIT_MS = 24 * 60 * 60_000
/** Jobs that follow on others are there some seconds after those have passed. */
export const SETTLE_MS = 10_000
/** A host that tells of each job is not asked after each. */
const REST_MS = 3000
const MAX_NAME_CHARS = 100

/** What a look has shown: the checks, that there is nobody to ask, or why the host does not say, which may have to be left alone for a while (ms since 1970). */
export type SeenChecks = CommitChecks | { state: 'nobody' } | { state: 'unreachable'; problem: string; restsUntil: number }

export type Step =
  | { do: 'deploy' }
  | { do: 'ignore'; reason: string }
  /** What is over has been told already. */
  | { do: 'end' }
  /** `told`: why the commit is not deployed for now. */
  | { do: 'wait'; change: Partial<CheckWait> & { nextLookAt: number }; told?: string }

export function stepAfter(wait: CheckWait, seen: SeenChecks, now: number): Step {
  switch (seen.state) {
    case 'nobody':
      return { do: 'ignore', reason: 'Nobody tells of its checks: connect the host of the repository by cpctl sourcehost connect.' }
    case 'failed':
      return failed(wait, seen.check.slice(0, MAX_NAME_CHARS), now)
    case 'passed':
      return passed(wait, now)
    case 'pending': {
      const awaits = seen.check === undefined ? 'somebody to tell of its checks' : `its check ${seen.check.slice(0, MAX_NAME_CHARS)}`
      return waitOn(wait, { now, lookAt: now + LOOK_MS, awaits, reason: 'Its checks have not passed within a day.' })
    }
    case 'unreachable': {
      const awaits = `its checks, of which nobody can tell now: ${seen.problem}`
      const reason = `Nobody could tell within a day whether its checks have passed. ${seen.problem}`
      return waitOn(wait, { now, lookAt: Math.max(now + LOOK_MS, seen.restsUntil), awaits, reason })
    }
  }
}

function failed(wait: CheckWait, check: string, now: number): Step {
  const awaits = `its check ${check} to pass when it is run again`
  const reason = `Its check ${check} has failed. It is deployed if that passes when it is run again, while it is the newest of its branch.`
  const failedAt = wait.failedAt ?? now
  const step = waitOn({ ...wait, failedAt }, { now, lookAt: now + FAILED_LOOK_MS, awaits, reason })
  if (step.do !== 'wait' || wait.failedAt !== null) return step
  return { ...step, change: { ...step.change, failedAt }, told: reason }
}

function passed({ passedAt }: CheckWait, now: number): Step {
  if (passedAt !== null && now - passedAt >= SETTLE_MS) return { do: 'deploy' }
  const since = passedAt ?? now
  const awaits = 'its checks to stay passed for some seconds'
  return { do: 'wait', change: { passedAt: since, awaits, lookedAt: now, nextLookAt: since + SETTLE_MS } }
}

interface Waiting {
  now: number
  lookAt: number
  awaits: string
  reason: string
}

function waitOn({ beganAt, failedAt }: CheckWait, { now, lookAt, awaits, reason }: Waiting): Step {
  const endsAt = (failedAt ?? beganAt) + LONGEST_WAIT_MS
  if (now >= endsAt) return failedAt === null ? { do: 'ignore', reason } : { do: 'end' }
  return { do: 'wait', change: { passedAt: null, awaits, lookedAt: now, nextLookAt: Math.min(endsAt, lookAt) } }
}

/** When to look after the host has told of a check (ms since 1970). */
export const wokenLookAt = ({ nextLookAt, lookedAt }: CheckWait, now: number): number =>
  Math.min(nextLookAt, Math.max(now, lookedAt + REST_MS))
