import { AppError } from '../../../shared/error.ts'

export interface HashQueueLimits {
  running: number
  waiting: number
}

export type Standing = 'known' | 'stranger'

/** @throws AppError `unavailable` when too many wait. */
export type HashQueue = <T>(compute: () => Promise<T>, who?: Standing) => Promise<T>

const RETRY_AFTER_SECONDS = 2
const STRANGERS_SHARE = 0.75

/** Argon2id takes a core for tens of milliseconds and 19 MiB. A quarter of the queue is kept for those who are known. */
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
