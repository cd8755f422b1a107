const POLL_MS = 20
const DEFAULT_TIMEOUT_MS = 30_000

/** Asks until there is an answer, and gives it. @throws naming what was waited for. */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) throw new Error(`Waited in vain until ${what}`)
    await Bun.sleep(POLL_MS)
  }
}
