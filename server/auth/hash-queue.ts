import { AppError } from '../../shared/error.ts'

export interface HashQueueLimits {
  /** Computations at the same time. */
  running: number
  /** Those that wait for one to end; more are refused. */
  waiting: number
}

/** Runs what is given to it, a few at a time. @throws AppError `unavailable` when too many wait. */
export type HashQueue = <T>(compute: () => Promise<T>) => Promise<T>

/** Long enough for a whole queue to be worked off. */
const RETRY_AFTER_SECONDS = 2

/**
 * Argon2id takes a core for tens of milliseconds and 19 MiB, on purpose. Whoever sends logins in masses gets a place in this queue or an
 * error at once, and takes neither the cores that answer everybody else nor the memory.
 */
export function createHashQueue({ running, waiting }: HashQueueLimits): HashQueue {
  const line: (() => void)[] = []
  let free = running
  return async (compute) => {
    if (free === 0) {
      if (line.length >= waiting) throw crowded()
      await new Promise<void>((proceed) => line.push(proceed))
    } else {
      free -= 1
    }
    try {
      return await compute()
    } finally {
      const next = line.shift()
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
