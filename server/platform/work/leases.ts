export interface Leases {
  take(key: string): () => void
  countOf(key: string): number
  total(): number
}

export function createLeases(): Leases {
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
