import type { AppError } from '../../../shared/error.ts'

const MINUTE_MS = 60_000
const LONGEST_PAUSE_MS = 6 * 60 * MINUTE_MS

/** How long a host that refused is left alone, in milliseconds: ever longer, but not for good, as somebody may give the right later. */
export const pauseAfter = (attempts: number): number => Math.min(MINUTE_MS * 2 ** Math.max(0, attempts - 1), LONGEST_PAUSE_MS)

/** Pause in milliseconds after an error: what the host asks for, where that is longer. */
export const pauseAfterRefusal = ({ retryAfterSeconds = 0 }: AppError, attempts: number): number =>
  Math.max(pauseAfter(attempts), retryAfterSeconds * 1000)
