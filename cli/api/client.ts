import { randomUUID } from 'node:crypto'
import { version } from '../../package.json'
import type { Operation, ReplyOf } from '../../shared/operation.ts'
import { type OperationId, type Operations, operationOf } from '../../shared/operations/all.ts'
import { CliError, errorOfResponse } from '../base/error.ts'
import { failureOf, isDropped } from './failure.ts'
import { type AnyInput, type CallInput, pathOf } from './request.ts'

/** How long an answer may take, in milliseconds, unless a call says otherwise. */
export const DEFAULT_TIMEOUT_MS = 30_000
const RETRY_DELAYS_MS = [200, 800]

/** What a call of each operation is given. One by one: the compiler gives up on the combinations of all of them. */
type Arguments = {
  [Id in OperationId]: Record<never, never> extends CallInput<Operations[Id]>
    ? [input?: CallInput<Operations[Id]>]
    : [input: CallInput<Operations[Id]>]
}

export interface Target {
  url: string
  headers: Readonly<Record<string, string>>
}

export interface StreamUpload {
  params: Record<string, string>
  query?: Record<string, string>
  contentType: string
  /** Makes the body anew: a dropped connection sends it again. */
  open: () => ReadableStream<Uint8Array>
  signal?: AbortSignal
}

export interface Client {
  target(): Promise<Target>
  /** Calls an operation of the table. @throws CliError with the server's code and message. */
  call<Id extends OperationId>(id: Id, ...input: Arguments[Id]): Promise<ReplyOf<Operations[Id]>>
  respond<Id extends OperationId>(id: Id, ...input: Arguments[Id]): Promise<Response>
  /** Calls an operation whose body is a stream of bytes; `signal` bounds it in time. */
  upload<Id extends OperationId>(id: Id, upload: StreamUpload): Promise<ReplyOf<Operations[Id]>>
}

/** The one client: every request and its types derive from the table of operations. */
export function createClient(target: () => Promise<Target>, interrupted: AbortSignal): Client {
  const respond = async (id: OperationId, input: AnyInput = {}): Promise<Response> => {
    const operation = operationOf(id)
    const limits = [interrupted, AbortSignal.timeout(input.timeoutMs ?? DEFAULT_TIMEOUT_MS), ...(input.signal ? [input.signal] : [])]
    const json = input.body === undefined ? {} : { 'content-type': 'application/json' }
    return exchange(await target(), {
      operation,
      path: pathOf(operation, input),
      headers: json,
      body: () => (input.body === undefined ? null : JSON.stringify(input.body)),
      signal: AbortSignal.any(limits),
    })
  }
  const upload = async (id: OperationId, input: StreamUpload): Promise<Response> => {
    const operation = operationOf(id)
    return exchange(await target(), {
      operation,
      path: pathOf(operation, input),
      headers: { 'content-type': input.contentType },
      body: input.open,
      signal: AbortSignal.any([interrupted, ...(input.signal ? [input.signal] : [])]),
    })
  }
  return {
    target,
    call: async (id, ...[input]) => (await replyOf(respond(id, input))) as never,
    respond: (id, ...[input]) => respond(id, input),
    upload: async (id, input) => (await replyOf(upload(id, input))) as never,
  }
}

interface Exchange {
  operation: Operation
  path: string
  headers: Record<string, string>
  body: () => string | ReadableStream<Uint8Array> | null
  signal: AbortSignal
}

/** Sends until there is an answer. What the server makes only once may be sent again when the connection drops. */
async function exchange(target: Target, { operation, path, headers, body, signal }: Exchange): Promise<Response> {
  const idempotency = operation.creates ? { 'idempotency-key': randomUUID() } : undefined
  const isRepeatable = idempotency !== undefined || operation.method === 'GET'
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(target.url + path, {
        method: operation.method,
        headers: { accept: 'application/json', 'user-agent': `cpctl/${version}`, ...target.headers, ...headers, ...idempotency },
        body: body(),
        redirect: 'manual',
        signal,
      })
      if (response.ok || response.status in operation.responses) return response
      throw await refusal(response, target)
    } catch (error) {
      const delay = RETRY_DELAYS_MS[attempt]
      if (!isRepeatable || delay === undefined || !isDropped(error) || signal.aborted) throw failureOf(error, target.url, signal)
      await Bun.sleep(delay)
    }
  }
}

async function refusal(response: Response, target: Target): Promise<CliError> {
  const location = response.headers.get('location')
  if (response.status >= 300 && response.status < 400 && location !== null) {
    const origin = URL.canParse(location, target.url) ? new URL(location, target.url).origin : location
    return new CliError('bad_request', `${target.url} redirects to ${origin}.`, { hint: `Use that address: cpctl login --url ${origin}` })
  }
  return errorOfResponse(response.status, jsonOf(await response.text()), response.headers.get('retry-after'))
}

async function replyOf(pending: Promise<Response>): Promise<unknown> {
  const response = await pending
  const text = await response.text().catch((error: unknown) => {
    throw failureOf(error, new URL(response.url).origin)
  })
  if (text === '') return undefined
  const value = jsonOf(text)
  if (value === undefined) throw errorOfResponse(response.status, undefined, null)
  return value
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
