import { setTimeout } from 'node:timers/promises'

export interface PumpOptions<T> {
  next(): T | undefined
  act(one: T): void
  onError(error: unknown): void
  signal: AbortSignal
}

export interface Pump {
  start(): void
  /** Does something when it has its turn, before what `next` gives. @throws the signal's reason when it aborts first. */
  inTurn(work: () => void): Promise<void>
  settled(): Promise<void>
}

interface Job {
  work(): void
  resolve(): void
  reject(reason: unknown): void
}

const SLICE_MS = 2
const SLICE_STEPS = 6
/** Twice as long as a slice: what is in a hurry for itself leaves most of the time to others. */
const REST_MS = 4

/** Does one thing after the other, a moment at a stretch, so that requests are answered in between. */
export function createPump<T>({ next, act, onError, signal }: PumpOptions<T>): Pump {
  let running: Promise<void> | undefined
  const jobs: Job[] = []
  signal.addEventListener('abort', () => {
    for (const { reject } of jobs) reject(signal.reason)
  })

  function start(): void {
    if (!signal.aborted) running ??= run()
  }

  async function run(): Promise<void> {
    // Let the transaction of whoever starts it come to its end.
    await Promise.resolve()
    for (let sliceEnd = performance.now() + SLICE_MS, steps = 1; !signal.aborted && step(); steps++) {
      if (steps < SLICE_STEPS && performance.now() < sliceEnd) continue
      await setTimeout(REST_MS)
      sliceEnd = performance.now() + SLICE_MS
      steps = 0
    }
    running = undefined
  }

  function step(): boolean {
    const job = jobs.shift()
    if (job !== undefined) {
      finish(job)
      return true
    }
    try {
      const one = next()
      if (one !== undefined) act(one)
      return one !== undefined
    } catch (error) {
      onError(error)
      return false
    }
  }

  return {
    start,
    inTurn(work) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      if (signal.aborted) reject(signal.reason)
      else jobs.push({ work, resolve, reject })
      start()
      return promise
    },
    settled: async () => void (await running),
  }
}

function finish({ work, resolve, reject }: Job): void {
  try {
    work()
    resolve()
  } catch (error) {
    reject(error)
  }
}
