const MINUTE_MS = 60_000

export interface Backoff {
  firstMs: number
  longestMs: number
}

export const defaultBackoff: Backoff = { firstMs: MINUTE_MS, longestMs: 12 * 60 * MINUTE_MS }

/** Longest wait that an authority may ask for: its clock or ours may be wrong. */
const LONGEST_WISH_MS = 7 * 24 * 60 * MINUTE_MS

/** Returns the wait after the `attempts`th failure in a row: twice as long each time, and never less than the authority asks. */
export function waitMs(attempts: number, wishMs: number | undefined, { firstMs, longestMs }: Backoff = defaultBackoff): number {
  const own = Math.min(firstMs * 2 ** (attempts - 1), longestMs)
  return Math.max(own, Math.min(wishMs ?? 0, LONGEST_WISH_MS))
}
