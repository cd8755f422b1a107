import { isPassing } from '../base/error.ts'
import { sleep } from '../base/sleep.ts'

/** How long to keep trying to reach a server that has gone away, in milliseconds. */
export const GIVE_UP_MS = 600_000

/** Something is asked about often at first, as small deploys and jobs take less than a second; times in milliseconds. */
const QUICK_POLL_MS = 50
const QUICK_FOR_MS = 3000
const SLOW_POLL_MS = 1000

export interface Poll<T> {
  ask: () => Promise<T>
  isOver: (seen: T) => boolean
  /** Called with everything that was seen on the way; what it ended as is the result. */
  onSeen?: (seen: T) => void
  interrupted: AbortSignal
}

/** Asks about something until it `isOver`, through restarts of the server. @throws Interrupted on Ctrl-C. */
export async function pollUntil<T>(first: T, { ask, isOver, onSeen, interrupted }: Poll<T>): Promise<T> {
  const startedAt = performance.now()
  let answeredAt = startedAt
  let seen = first
  while (!isOver(seen)) {
    onSeen?.(seen)
    await sleep(performance.now() - startedAt < QUICK_FOR_MS ? QUICK_POLL_MS : SLOW_POLL_MS, interrupted)
    interrupted.throwIfAborted()
    try {
      seen = await ask()
      answeredAt = performance.now()
    } catch (error) {
      if (!isPassing(error) || performance.now() - answeredAt > GIVE_UP_MS) throw error
      await sleep(SLOW_POLL_MS, interrupted)
    }
  }
  return seen
}
