import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError } from '../../../../shared/error.ts'
import { parseJson } from '../../../http/input/json-body.ts'
import { OutgoingProblem } from '../../../platform/outgoing/problem.ts'
import { sendOutgoing } from '../../../platform/outgoing/send.ts'
import { retryAfterMsOf } from '../../webhooks/retry-plan.ts'
import type { Reach } from './reach.ts'

const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const SECOND_MS = 1000
const DEFAULT_WAIT_SECONDS = 60
/** What a host may have us wait: beyond, it is asked anyway. */
const MAX_WAIT_SECONDS = 3600

export interface HostRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  headers?: Record<string, string>
  json?: unknown
}

export async function askHost<S extends TSchema>(reach: Reach, request: HostRequest, schema: S, signal: AbortSignal): Promise<Static<S>> {
  const response = await fetchHost(reach, request, signal)
  if (!response.ok) throw refusalOf(reach, response)
  const answer = await bodyOf(response)
  if (Value.Check(schema, answer)) return answer
  const first = Value.Errors(schema, answer).First()
  throw new AppError(
    'unavailable',
    `${reach.title} gave an answer to ${request.path.split('?')[0]} that is none: ${first?.path || '/'} does not fit.`,
  )
}

/** Sends one request; redirects within the host's API are followed by GETs, once, as renamed repositories have them. */
export async function fetchHost(reach: Reach, request: HostRequest, signal: AbortSignal): Promise<Response> {
  const { method = 'GET' } = request
  const response = await sendTo(reach, new URL(reach.apiUrl + request.path), request, signal)
  const location = response.headers.get('location')
  if (method !== 'GET' || response.status < 300 || response.status >= 400 || location === null) return response
  const target = URL.canParse(location, reach.apiUrl) ? new URL(location, reach.apiUrl) : undefined
  if (target?.origin !== new URL(reach.apiUrl).origin) throw new AppError('unavailable', `${reach.title} leads to another host.`)
  return sendTo(reach, target, request, signal)
}

async function sendTo(reach: Reach, url: URL, { method = 'GET', headers = {}, json }: HostRequest, signal: AbortSignal): Promise<Response> {
  const body = json === undefined ? {} : { body: JSON.stringify(json) }
  const sent = new Headers({ Accept: 'application/json', ...headers, ...(json !== undefined && { 'Content-Type': 'application/json' }) })
  try {
    return await sendOutgoing(
      { url, method, headers: sent, ...body },
      { ...reach.policy, ...reach, signal, maxAnswerBytes: MAX_ANSWER_BYTES },
    )
  } catch (cause) {
    if (!(cause instanceof OutgoingProblem)) throw cause
    throw new AppError('unavailable', `${reach.title} does not answer: ${cause.message}`, { cause })
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (bytes.length === 0) return undefined
  try {
    return parseJson(bytes)
  } catch {
    return undefined
  }
}

export function refusalOf({ title }: Reach, { status, headers }: Response): AppError {
  const retryAfterSeconds = waitSecondsOf(headers)
  const isLimited = status === 429 || (status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')))
  if (isLimited)
    return new AppError('rate_limited', `${title} is asked too often. It is tried again in ${retryAfterSeconds} s.`, { retryAfterSeconds })
  if (status === 401) return new AppError('forbidden', `${title} no longer lets us in. Connect the account anew: cpctl sourcehost connect.`)
  if (status === 403) return new AppError('forbidden', `${title} does not allow it. Give the connection the rights that it asks for.`)
  if (status === 404 || status === 410) return new AppError('not_found', `${title} does not have it, or does not show it to this account.`)
  if (status === 409 || status === 422) return new AppError('conflict', `${title} refuses it (${status}).`)
  return new AppError('unavailable', `${title} answered ${status}.`)
}

/** GitHub says by `X-RateLimit-Reset` when its hour is over, others by `Retry-After`. */
function waitSecondsOf(headers: Headers): number {
  const now = Date.now()
  const asked = retryAfterMsOf(headers.get('retry-after'), now)
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN) * SECOND_MS - now
  const seconds = Math.ceil((asked ?? reset) / SECOND_MS)
  return Number.isNaN(seconds) ? DEFAULT_WAIT_SECONDS : Math.min(Math.max(1, seconds), MAX_WAIT_SECONDS)
}
