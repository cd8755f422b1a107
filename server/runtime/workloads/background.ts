/** Runs what takes its time beside whoever asks for it, each thing at most once at a time. */
export interface Background {
  /** Nothing when `key` is under way already. */
  run(key: string, task: () => Promise<void>): void
  /** Returns when nothing is under way any more. */
  settled(): Promise<void>
}

export function createBackground(onError: (key: string, error: unknown) => void): Background {
  const running = new Map<string, Promise<void>>()
  return {
    run(key, task) {
      if (running.has(key)) return
      const done = task()
        .catch((error) => onError(key, error))
        .finally(() => running.delete(key))
      running.set(key, done)
    },
    settled: async () => void (await Promise.all(running.values())),
  }
}
