export interface Sequences {
  /** Runs it after everything that was to run under this key before, at once where there is nothing. Its failure is reported, and is nobody else's. */
  run(key: string, act: () => Promise<void>): void
  /** Resolves when all that was to run so far under a key is over. */
  settled(key: string): Promise<void>
  allSettled(): Promise<void>
}

export function createSequences(onError: (error: unknown) => void): Sequences {
  const last = new Map<string, Promise<void>>()
  return {
    run(key, act) {
      const before = last.get(key)
      const mine = (before === undefined ? act() : before.then(breath).then(act)).catch(onError).finally(() => {
        if (last.get(key) === mine) last.delete(key)
      })
      last.set(key, mine)
    },
    settled: async (key) => await last.get(key),
    allSettled: async () => void (await Promise.all(last.values())),
  }
}

/** Whoever has very many to run must not keep all else waiting. */
const breath = () => new Promise((resolve) => setImmediate(resolve))
