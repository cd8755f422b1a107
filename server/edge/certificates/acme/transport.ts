/** The one way out to an authority, in place of Axios with its five retries and no time limit. Retries are the reconciler's. */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { axios } from 'acme-client'
import { messageOf } from '../../../../shared/error.ts'
import { AcmeProblem, isBadNonce, problemOf } from './problem.ts'

export interface Conversation {
  directory: string
  root: string | undefined
  signal: AbortSignal
  timeoutMs?: number
  /** Wait before the next poll that the latest answer asked for. */
  pollAfterMs?: number | undefined
}

export const DEFAULT_REQUEST_TIMEOUT_MS = 30_000
const MAX_ANSWER_BYTES = 1024 * 1024

const conversations = new AsyncLocalStorage<Conversation>()

/** Runs `work` so that the library's requests in it go out with the settings of this conversation. */
export const converse = <T>(conversation: Conversation, work: () => Promise<T>): Promise<T> => conversations.run(conversation, work)

export function currentConversation(): Conversation {
  const conversation = conversations.getStore()
  if (conversation === undefined) throw new Error('The authority is spoken to inside converse() only')
  return conversation
}

type Adapter = Extract<NonNullable<typeof axios.defaults.adapter>, (config: never) => unknown>

/** Takes the place of Axios's own way out. Errors it throws pass the library unchanged. */
export const fetchAdapter: Adapter = async (config) => {
  const conversation = currentConversation()
  const url = new URL(config.url ?? '')
  if (url.origin !== new URL(conversation.directory).origin) {
    throw new AcmeProblem('badAnswer', `The directory leads to another server, ${url.origin}, which is not followed.`)
  }
  const response = await send(url, conversation, {
    method: (config.method ?? 'get').toUpperCase(),
    headers: Object.entries(config.headers.toJSON()).map(([name, value]) => [name, String(value)]),
    body: typeof config.data === 'string' ? config.data : null,
  })
  const retryAfterMs = retryAfterOf(response.headers)
  conversation.pollAfterMs = retryAfterMs
  if (response.status >= 300) refuse(response, retryAfterMs)
  const headers = Object.fromEntries(response.headers)
  return { data: response.text, status: response.status, statusText: '', headers, config }
}

interface Answer {
  status: number
  headers: Headers
  text: string
}

async function send(url: URL, conversation: Conversation, init: RequestInit): Promise<Answer> {
  const timeout = AbortSignal.timeout(conversation.timeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS)
  const { root, signal } = conversation
  try {
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
      ...(root === undefined ? {} : { tls: { ca: root } }),
    })
    return { status: response.status, headers: response.headers, text: await textOf(response) }
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof AcmeProblem) throw cause
    const reason = timeout.aborted ? 'it gave no answer in time' : messageOf(cause)
    throw new AcmeProblem('unreachable', reason, { cause })
  }
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let sizeBytes = 0
  for await (const chunk of response.body ?? []) {
    sizeBytes += chunk.byteLength
    if (sizeBytes > MAX_ANSWER_BYTES) throw new AcmeProblem('badAnswer', `It sent more than ${MAX_ANSWER_BYTES} bytes.`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Throws for every refusal but a bad nonce, which the library repeats with a fresh one. */
function refuse({ status, text }: Answer, retryAfterMs: number | undefined): void {
  const document = parsed(text)
  if (isBadNonce(document)) return
  const fallback = `it answered with status ${status}`
  const problem = problemOf(document, { fallback, retryAfterMs })
  throw status >= 500 && problem.type !== 'rateLimited' ? new AcmeProblem('unreachable', problem.message, { retryAfterMs }) : problem
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads Retry-After, seconds or a date (RFC 9110 section 10.2.3), in milliseconds. */
export function retryAfterOf(headers: Headers, now = Date.now()): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(waitMs) && waitMs > 0 ? waitMs : undefined
}
