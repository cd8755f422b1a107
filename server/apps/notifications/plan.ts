import type { NotificationLevel } from '../../../shared/notification.ts'
import type { Sign } from './sign.ts'

export interface Problem {
  about: string | null
  overAt: number | null
}

export type ItemKind = 'failure' | 'over' | 'news'

export interface Reaction {
  tells: ItemKind | undefined
  problem: Problem | undefined
}

/** What is told of a sign, and what is kept in mind. A failure is told once, and once more when it is over. */
export function reactTo(
  sign: Sign,
  { problem, level, at }: { problem: Problem | undefined; level: NotificationLevel; at: number },
): Reaction {
  if (level === 'none') return { tells: undefined, problem: undefined }
  return sign.kind === 'bad' ? reactToBad(sign, problem) : reactToGood(sign, { problem, level, at })
}

function reactToBad({ isEndless, ...sign }: Sign, problem: Problem | undefined): Reaction {
  const about = sign.about ?? null
  if (isEndless) return { tells: 'failure', problem: undefined }
  const isKnown = problem !== undefined && problem.about === about
  return { tells: isKnown ? undefined : 'failure', problem: { about, overAt: null } }
}

function reactToGood(
  { calmMs = 0, isNews }: Sign,
  { problem, level, at }: { problem: Problem | undefined; level: NotificationLevel; at: number },
): Reaction {
  if (problem === undefined) return { tells: isNews && level === 'all' ? 'news' : undefined, problem: undefined }
  if (calmMs === 0) return { tells: 'over', problem: undefined }
  return { tells: undefined, problem: { ...problem, overAt: problem.overAt ?? at + calmMs } }
}

/** From the first of what is to be told on, all of so long goes into one message, in milliseconds. */
export const GROUPED_MS = 60_000

/** When a message is made of what waits (ms since 1970), by when each was taken up; undefined where nothing waits. */
export const messageDueAt = (takenUpAt: readonly number[]): number | undefined =>
  takenUpAt.length === 0 ? undefined : Math.min(...takenUpAt) + GROUPED_MS

/** Pauses after each attempt that failed but the last, in milliseconds. */
const pausesMs = [60_000, 5 * 60_000, 30 * 60_000, 2 * 60 * 60_000] as const

/** When a message is tried again (ms since 1970); undefined after the last attempt. */
export function retryAt(attempts: number, now: number): number | undefined {
  const pauseMs = pausesMs[attempts - 1]
  return pauseMs === undefined ? undefined : now + pauseMs
}

/** What is told of a service: what was set for it, or what holds in its workspace. */
export const levelOf = (ofService: 'default' | NotificationLevel, ofWorkspace: NotificationLevel): NotificationLevel =>
  ofService === 'default' ? ofWorkspace : ofService
