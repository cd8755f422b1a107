/** Work that runs beside the reconciler, a few at a time, each with a name of its own. */
export interface JobPool {
  /** Starts `run` unless it runs already or there is no place; it must not throw. */
  start(name: string, run: (signal: AbortSignal) => Promise<void>): void
  cancel(name: string): void
  /** Returns when nothing runs any more. */
  settled(): Promise<void>
}

export interface JobPoolOptions {
  places: number
  /** Cancels everything. */
  signal: AbortSignal
  /** Called when a place has become free. */
  onEnd(): void
}

export function createJobPool({ places, signal, onEnd }: JobPoolOptions): JobPool {
  const running = new Map<string, { cancel: AbortController; done: Promise<void> }>()
  return {
    start(name, run) {
      if (running.has(name) || running.size >= places || signal.aborted) return
      const cancel = new AbortController()
      const done = run(AbortSignal.any([cancel.signal, signal])).finally(() => {
        running.delete(name)
        onEnd()
      })
      running.set(name, { cancel, done })
    },
    cancel: (name) => running.get(name)?.cancel.abort(new Error('It is wanted no longer.')),
    settled: async () => void (await Promise.all([...running.values()].map(({ done }) => done))),
  }
}
