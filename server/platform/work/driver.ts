import type { Clock } from './clock.ts'

/** Runs a reconciler once at a time for a key, and once more however many pokes came meanwhile. What fails is tried again after a pause. */
export interface Driver {
  poke(key: string): void
  settled(): Promise<void>
}

export interface DriverOptions extends Clock {
  run(key: string): Promise<number | undefined>
  onError(key: string, error: unknown): void
  signal: AbortSignal
}

const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 30_000
/** Timers take more than 24 days for no time at all (setTimeout), and a clock that was set back makes years of any pause. */
const LONGEST_WAIT_MS = 24 * 60 * 60_000

const waitMs = (ms: number): number => Math.min(LONGEST_WAIT_MS, Math.max(0, ms))

interface Lane {
  isPoked: boolean
  failures: number
  cancelTimer: (() => void) | undefined
  running: Promise<void> | undefined
}

export function createDriver(options: DriverOptions): Driver {
  const lanes = new Map<string, Lane>()
  options.signal.addEventListener('abort', () => {
    for (const lane of lanes.values()) lane.cancelTimer?.()
  })

  function poke(key: string): void {
    if (options.signal.aborted) return
    const lane = lanes.get(key) ?? { isPoked: false, failures: 0, cancelTimer: undefined, running: undefined }
    lanes.set(key, lane)
    lane.isPoked = true
    lane.running ??= runLane(key, lane)
  }

  async function runLane(key: string, lane: Lane): Promise<void> {
    lane.cancelTimer?.()
    let dueAt: number | undefined
    // Let the transaction of whoever poked come to its end.
    await Promise.resolve()
    while (lane.isPoked && !options.signal.aborted) {
      lane.isPoked = false
      dueAt = await runOnce(key, lane)
    }
    lane.running = undefined
    if (dueAt === undefined) lanes.delete(key)
    else if (!options.signal.aborted) lane.cancelTimer = options.after(waitMs(dueAt - options.now()), () => poke(key))
  }

  async function runOnce(key: string, lane: Lane): Promise<number | undefined> {
    try {
      const dueAt = await options.run(key)
      lane.failures = 0
      return dueAt
    } catch (error) {
      if (options.signal.aborted) return undefined
      options.onError(key, error)
      lane.failures += 1
      return options.now() + Math.min(FIRST_RETRY_MS * 2 ** (lane.failures - 1), LONGEST_RETRY_MS)
    }
  }

  return { poke, settled: async () => void (await Promise.all([...lanes.values()].map((lane) => lane.running))) }
}
