import { setImmediate } from 'node:timers/promises'

export interface PumpOptions<T> {
  /** What is to be done next; undefined when there is nothing for now. */
  next(): T | undefined
  act(one: T): void
  onError(error: unknown): void
  signal: AbortSignal
}

const SLICE_MS = 4

/** Does one thing after the other, a few milliseconds at a stretch, so that requests are answered in between. Returns what starts it. */
export function createPump<T>({ next, act, onError, signal }: PumpOptions<T>): { start(): void; settled(): Promise<void> } {
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    // Let the transaction of whoever starts it come to its end.
    await Promise.resolve()
    try {
      let sliceEnd = performance.now() + SLICE_MS
      for (let one = next(); one !== undefined && !signal.aborted; one = next()) {
        act(one)
        if (performance.now() < sliceEnd) continue
        await setImmediate()
        sliceEnd = performance.now() + SLICE_MS
      }
    } catch (error) {
      onError(error)
    }
    running = undefined
  }

  return {
    start() {
      if (!signal.aborted) running ??= run()
    },
    settled: async () => void (await running),
  }
}
