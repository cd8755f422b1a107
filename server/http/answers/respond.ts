import { AppError, type ErrorBody, errorStatus } from '../../../shared/error.ts'
import { diskFull, isDiskFull } from '../../platform/files/disk-full.ts'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import type { RateState } from '../limits/rate-limit.ts'

export interface ReplyHead {
  requestId: string
  rate: RateState
  isHttps: boolean
  cors: Record<string, string> | undefined
}

/** Headers of every response. The policy is that of JSON, which needs nothing; pages bring their own. */
export function headersOf({ requestId, rate, isHttps, cors }: ReplyHead): Record<string, string> {
  const headers: Record<string, string> = {
    'X-Request-Id': requestId,
    'RateLimit-Limit': String(rate.limit),
    'RateLimit-Remaining': String(rate.remaining),
    'RateLimit-Reset': String(rate.resetSeconds),
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  }
  if (isHttps) headers['Strict-Transport-Security'] = 'max-age=31536000'
  return cors === undefined ? headers : Object.assign(headers, cors)
}

export function respondJson(head: ReplyHead, status: number, json: string | undefined, extra: Record<string, string> = {}): Response {
  const headers = headersOf(head)
  if (json !== undefined) headers['Content-Type'] = 'application/json; charset=utf-8'
  return new Response(json ?? null, { status, headers: Object.assign(headers, extra) })
}

export function respondAs(head: ReplyHead, response: Response): Response {
  for (const [name, value] of Object.entries(headersOf(head))) {
    if (name === 'Vary') response.headers.append(name, value)
    else if (!response.headers.has(name)) response.headers.set(name, value)
  }
  return response
}

/** The answer to an error. What is not meant for the caller is logged with its cause and shown as internal. */
export function respondError(head: ReplyHead, error: unknown, log: ServerLog): Response {
  const shown = shownOf(head, error)
  const status = errorStatus[shown.code]
  if (status === 500 || (shown !== error && status > 500))
    log.error('request failed', { requestId: head.requestId, ...describeError(error) })
  const body: ErrorBody = {
    message: shown.code === 'internal' ? internalMessage(head.requestId) : shown.message,
    code: shown.code,
    id: head.requestId,
    ...(shown.details.length > 0 ? { details: shown.details } : {}),
  }
  const extra: Record<string, string> = {}
  if (shown.retryAfterSeconds !== undefined) extra['Retry-After'] = String(shown.retryAfterSeconds)
  if (shown.allowedMethods !== undefined) extra.Allow = shown.allowedMethods.join(', ')
  if (status === 401) extra['WWW-Authenticate'] = 'Bearer'
  return respondJson(head, status, JSON.stringify(body), extra)
}

function shownOf({ requestId }: ReplyHead, error: unknown): AppError {
  if (error instanceof AppError) return error
  return isDiskFull(error) ? diskFull(error) : new AppError('internal', internalMessage(requestId))
}

const internalMessage = (requestId: string): string =>
  `Something went wrong on the server. Its log says more; tell the operator the request id ${requestId}.`
