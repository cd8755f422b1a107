/** Counts who holds what, by key. In memory, as whoever holds something does not outlive us either. */
export interface Holds {
  /** The function returned gives it up, once. */
  take(key: string): () => void
  /** How many hold it. */
  countOf(key: string): number
  /** How many hold anything. */
  total(): number
}

export function createHolds(): Holds {
  const counts = new Map<string, number>()
  let total = 0
  const add = (key: string, count: 1 | -1) => {
    const left = (counts.get(key) ?? 0) + count
    if (left === 0) counts.delete(key)
    else counts.set(key, left)
    total += count
  }
  return {
    take(key) {
      add(key, 1)
      let isHeld = true
      return () => {
        if (isHeld) add(key, -1)
        isHeld = false
      }
    },
    countOf: (key) => counts.get(key) ?? 0,
    total: () => total,
  }
}
