export interface JobPool {
  /** Starts `run`, which must not throw, unless it runs already or there is no place. */
  start(name: string, run: (signal: AbortSignal) => Promise<void>): void
  cancel(name: string): void
  settled(): Promise<void>
}

export interface JobPoolOptions {
  places: number
  signal: AbortSignal
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
