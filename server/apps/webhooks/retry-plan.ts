import { maxAttempts } from '../../../shared/webhook.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/**
 * Pauses after each failed attempt but the last: the first of the schedule that Standard Webhooks gives as an example (section
 * "Deliverability and reliability"). The eighth attempt comes 31 h 35 min 5 s after the first.
 */
export const pausesMs = [5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 14 * HOUR_MS] as const

/** Pauses grow by up to this part, evenly spread, so that what failed together does not come back together: 33 h in the mean. */
const JITTER = 0.1

export const LONGEST_PAUSE_MS = Math.max(...pausesMs) * (1 + JITTER)

/** What a receiver may ask for by `Retry-After` beyond the pause: it cannot put off the end. */
const MAX_ASKED_MS = HOUR_MS

export interface Failure {
  attempt: number
  at: number
  statusCode: number | undefined
  retryAfterMs: number | undefined
  random: number
}

export type AfterFailure = { next: 'retry'; at: number } | { next: 'disable'; reason: string }

const GONE = 410

/** What follows on a failed attempt. A receiver that says it is gone (410) is not asked again. */
export function afterFailure({ attempt, at, statusCode, retryAfterMs = 0, random }: Failure): AfterFailure {
  if (statusCode === GONE) return { next: 'disable', reason: 'The receiver answered 410 Gone: it wants no more.' }
  const pauseMs = pausesMs[attempt - 1]
  if (pauseMs === undefined || attempt >= maxAttempts)
    return { next: 'disable', reason: `An event could not be delivered in ${maxAttempts} attempts.` }
  return { next: 'retry', at: Math.round(at + Math.max(pauseMs * (1 + JITTER * random), Math.min(retryAfterMs, MAX_ASKED_MS))) }
}

/** What a `Retry-After` asks for in milliseconds, as seconds or a date (RFC 9110 section 10.2.3); undefined for anything else. */
export function retryAfterMsOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND_MS
  const at = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
