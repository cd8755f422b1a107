/** Requests whose native parts the engine does not count as garbage: after so many there are some four megabytes of them. */
const REQUESTS = 2000

/** A heap that takes longer is left to the engine: it would hold up the API. */
const LONGEST_MS = 50

/** Returns what is to be called after each request. It collects garbage now and then, which would else be left to lie for minutes. */
export function createGarbageCount(): () => void {
  let requests = 0
  let tookMs = 0
  return () => {
    requests += 1
    if (requests < REQUESTS || tookMs > LONGEST_MS) return
    const startedAt = performance.now()
    Bun.gc(true)
    tookMs = performance.now() - startedAt
    requests = 0
  }
}
