import { AppError } from '../../../shared/error.ts'

export interface HashQueueLimits {
  /** Computations at the same time. */
  running: number
  /** Those that wait for one to end; more are refused. */
  waiting: number
}

/** Whether who asks has shown that they were let in before. */
export type Standing = 'known' | 'stranger'

/** Runs what is given to it, a few at a time. @throws AppError `unavailable` when too many wait. */
export type HashQueue = <T>(compute: () => Promise<T>, who?: Standing) => Promise<T>

/** Long enough for a whole queue to be worked off. */
const RETRY_AFTER_SECONDS = 2
const STRANGERS_SHARE = 0.75

/**
 * Argon2id takes a core for tens of milliseconds and 19 MiB, on purpose. Whoever sends logins in masses gets a place in this queue or an
 * error at once, and takes neither the cores that answer everybody else nor the memory. A quarter of the places in the queue is kept for
 * those who are known, and their turn comes first.
 */
export function createHashQueue({ running, waiting }: HashQueueLimits): HashQueue {
  const lines: Record<Standing, (() => void)[]> = { known: [], stranger: [] }
  const room: Record<Standing, number> = { known: waiting, stranger: Math.ceil(waiting * STRANGERS_SHARE) }
  let free = running
  return async (compute, who = 'stranger') => {
    if (free === 0) {
      const length = who === 'known' ? lines.known.length + lines.stranger.length : lines.stranger.length
      if (length >= room[who]) throw crowded()
      await new Promise<void>((proceed) => lines[who].push(proceed))
    } else {
      free -= 1
    }
    try {
      return await compute()
    } finally {
      const next = lines.known.shift() ?? lines.stranger.shift()
      // The place goes over to the next in line, so that nobody slips in between.
      if (next === undefined) free += 1
      else next()
    }
  }
}

const crowded = (): AppError =>
  new AppError('unavailable', 'Too many people are signing in at this moment. Try again in a few seconds.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
