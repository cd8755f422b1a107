export interface Background {
  run(key: string, task: () => Promise<void>): void
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
