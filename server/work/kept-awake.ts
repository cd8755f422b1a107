/** Services that something beside their requests needs awake: how often each, in memory, as what needs them does not outlive us either. */
export interface KeptAwake {
  /** The function returned gives it up, once. */
  keep(serviceId: string): () => void
  has(serviceId: string): boolean
}

export function createKeptAwake(): KeptAwake {
  const counts = new Map<string, number>()
  const add = (serviceId: string, count: number) => {
    const left = (counts.get(serviceId) ?? 0) + count
    if (left === 0) counts.delete(serviceId)
    else counts.set(serviceId, left)
  }
  return {
    keep(serviceId) {
      add(serviceId, 1)
      let isKept = true
      return () => {
        if (isKept) add(serviceId, -1)
        isKept = false
      }
    },
    has: (serviceId) => counts.has(serviceId),
  }
}
