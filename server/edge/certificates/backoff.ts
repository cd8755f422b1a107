const MINUTE_MS = 60_000

export interface Backoff {
  firstMs: number
  longestMs: number
}

/** Between two tries to obtain or revoke a certificate. */
export const defaultBackoff: Backoff = { firstMs: MINUTE_MS, longestMs: 12 * 60 * MINUTE_MS }

/** However long an authority asks us to wait: its clock or ours may be wrong. */
const LONGEST_WISH_MS = 7 * 24 * 60 * MINUTE_MS

/** How long to wait after the `attempts`th failure in a row: each time twice as long, and never less than the authority asks. */
export function waitMs(attempts: number, wishMs: number | undefined, { firstMs, longestMs }: Backoff = defaultBackoff): number {
  const own = Math.min(firstMs * 2 ** (attempts - 1), longestMs)
  return Math.max(own, Math.min(wishMs ?? 0, LONGEST_WISH_MS))
}
