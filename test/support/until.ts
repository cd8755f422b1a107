const SHORTEST_POLL_MS = 10
const LONGEST_POLL_MS = 50
/** What has not come for so many times a pause is asked for no sooner. */
const POLLS_A_WAIT = 20
const DEFAULT_TIMEOUT_MS = 30_000

/**
 * Asks until there is an answer, and gives it: often at first, less often the longer it waits, since many tests wait at a time.
 *
 * @throws naming what was waited for.
 */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    const waitedMs = performance.now() - startedAt
    if (waitedMs > timeoutMs) throw new Error(`Waited in vain until ${what}`)
    await Bun.sleep(Math.min(Math.max(waitedMs / POLLS_A_WAIT, SHORTEST_POLL_MS), LONGEST_POLL_MS))
  }
}
