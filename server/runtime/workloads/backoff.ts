export interface Failure {
  /** Milliseconds since 1970. */
  at: number
}

const FIRST_DELAY_MS = 1000
const LONGEST_DELAY_MS = 60_000
/** An instance that has run this long is past its trouble: the next failure counts as the first. */
export const STABLE_RUN_MS = 10 * 60_000

export const CRASH_LOOP_FAILURES = 5
export const CRASH_LOOP_WINDOW_MS = 2 * 60_000

/** The wait from `now`: 1 s after a first failure, twice as long after each more, at most 60 s unless said otherwise; 0 for none. Those before `STABLE_RUN_MS` of quiet do not count. */
export function nextRestartDelayMs(failures: readonly Failure[], now: number, longestDelayMs = LONGEST_DELAY_MS): number {
  const times = failures.map((failure) => failure.at).sort((a, b) => b - a)
  const last = times[0]
  if (last === undefined || now - last >= STABLE_RUN_MS) return 0
  const firstOld = times.findIndex((at, index) => (times[index - 1] ?? now) - at >= STABLE_RUN_MS)
  const count = firstOld === -1 ? times.length : firstOld
  const delayMs = Math.min(longestDelayMs, FIRST_DELAY_MS * 2 ** (count - 1))
  return Math.max(0, last + delayMs - now)
}

/** Five failures within two minutes: shown as crash-looping, never as healthy. Times in milliseconds since 1970. */
export function isCrashLooping(exitTimes: readonly number[], now: number): boolean {
  return exitTimes.filter((at) => at > now - CRASH_LOOP_WINDOW_MS && at <= now).length >= CRASH_LOOP_FAILURES
}
