import type { Clock } from '../../platform/work/clock.ts'

export interface TestClock extends Clock {
  /** Lets this much time pass: what is due is called in its order, and all that follows from it settles in between. */
  advance(ms: number): Promise<void>
}

interface Timer {
  at: number
  run: () => void
}

const START_AT = Date.UTC(2030, 0, 1)

/** A clock of whole milliseconds that stands still until it is told to go on. `settled` returns when all has happened that what was called has set going. */
export function createTestClock({ settled = stepsOfPromises }: { settled?: () => Promise<void> } = {}): TestClock {
  const timers = new Set<Timer>()
  let now = START_AT
  const nextBefore = (end: number) => [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
  return {
    now: () => now,
    after: (delayMs, run) => {
      const timer = { at: now + Math.max(0, Math.ceil(delayMs)), run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance: async (ms) => {
      const end = now + ms
      await settled()
      for (let next = nextBefore(end); next !== undefined; next = nextBefore(end)) {
        timers.delete(next)
        now = Math.max(now, next.at)
        next.run()
        await settled()
      }
      now = end
    },
  }
}

/** More steps of promises than any call of the fake takes; no timer of the machine is involved, so a thousand advances stay cheap. */
const SETTLING_STEPS = 50

async function stepsOfPromises(): Promise<void> {
  for (let step = 0; step < SETTLING_STEPS; step++) await Promise.resolve()
}
