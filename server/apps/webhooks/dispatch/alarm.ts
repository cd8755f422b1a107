import type { AppContext } from '../../context.ts'
import { nextRetryAt } from '../queue-store.ts'

export interface Alarm {
  /** Rings at this time (ms since 1970), unless it rings earlier. */
  setFor(at: number): void
  setForNextRetry(): void
}

/** One timer for all retries; when it has rung it is set for those that follow. */
export function createAlarm({ db, now, after, stopping }: Pick<AppContext, 'db' | 'now' | 'after' | 'stopping'>, ring: () => void): Alarm {
  let set: { at: number; cancel: () => void } | undefined
  stopping.addEventListener('abort', () => set?.cancel())

  function setFor(at: number): void {
    if (stopping.aborted || (set !== undefined && set.at <= at)) return
    set?.cancel()
    const cancel = after(Math.max(0, at - now()), () => {
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
