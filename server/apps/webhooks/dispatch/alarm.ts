import type { AppContext } from '../../context.ts'
import { nextRetryAt } from '../queue-store.ts'

export interface Alarm {
  setFor(at: number): void
  setForNextRetry(): void
}

/** Timers of the platform hold 24 days at most and ring at once for more; after so long the time is looked at anew, as the clock may have been set. */
const LONGEST_WAIT_MS = 60 * 60 * 1000

/** One timer for all retries; when it has rung it is set for those that follow. */
export function createAlarm({ db, now, after, stopping }: Pick<AppContext, 'db' | 'now' | 'after' | 'stopping'>, ring: () => void): Alarm {
  let set: { at: number; cancel: () => void } | undefined
  stopping.addEventListener('abort', () => set?.cancel())

  function setFor(at: number): void {
    if (stopping.aborted || (set !== undefined && set.at <= at)) return
    set?.cancel()
    const cancel = after(Math.min(Math.max(0, at - now()), LONGEST_WAIT_MS), () => {
      set = undefined
      ring()
      setForNextRetry()
    })
    set = { at, cancel }
  }

  function setForNextRetry(): void {
    const at = nextRetryAt(db, now())
    if (at !== undefined) setFor(at)
  }

  return { setFor, setForNextRetry }
}
