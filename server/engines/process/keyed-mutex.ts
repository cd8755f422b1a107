export interface KeyedMutex {
  /** Waits for everybody who came before with this key, whatever became of them; without a key it waits for nobody. */
  run<T>(key: string | undefined, act: () => Promise<T>): Promise<T>
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>()
  return {
    async run(key, act) {
      if (key === undefined) return await act()
      const before = last.get(key)
      const mine = before === undefined ? act() : before.then(act, act)
      last.set(key, mine)
      try {
        return await mine
      } finally {
        if (last.get(key) === mine) last.delete(key)
      }
    },
  }
}
