import { type Clock, realClock } from '../../server/platform/work/clock.ts'

/** Time that passes so many times as fast as the machine's: pauses, windows and time-outs take that much less. */
export function hurryClock(speed: number): Clock {
  const from = Date.now()
  return {
    now: () => Math.floor(from + (Date.now() - from) * speed),
    after: (delayMs, run) => realClock.after(delayMs / speed, run),
  }
}
