/** Requests whose native parts the engine does not count as garbage: after so many there are some four megabytes of them. */
const REQUESTS = 2000

/** A collection that takes longer holds up the API, and the next one is put off by as much. */
const LONG_MS = 20

/** Returns what is to be called after each request. It collects garbage now and then, which would else be left to lie for minutes. */
export function createGarbageCount(): () => void {
  let left = REQUESTS
  return () => {
    left -= 1
    if (left > 0) return
    const startedAt = performance.now()
    Bun.gc(true)
    left = REQUESTS * Math.max(1, (performance.now() - startedAt) / LONG_MS)
  }
}
