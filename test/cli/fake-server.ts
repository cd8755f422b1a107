import { FormatRegistry, type TSchema, TypeRegistry } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { minPasswordChars } from '../../shared/auth.ts'
import { AppError, type ErrorBody, errorStatus } from '../../shared/error.ts'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'

// TypeBox leaves the checking of formats, and of shapes spelled out as JSON Schema, to whoever uses them.
FormatRegistry.Set('date-time', (text) => !Number.isNaN(Date.parse(text)))
FormatRegistry.Set('password', (text) => [...text].length >= minPasswordChars)
TypeRegistry.Set('Unsafe', (schema: { enum?: unknown[] }, value) => schema.enum?.includes(value) ?? true)

export interface Received {
  id: OperationId
  params: Record<string, string>
  query: Record<string, unknown>
  body: unknown
  headers: Headers
  request: Request
}

export type Answers = Partial<Record<OperationId, (received: Received) => unknown>>

export interface FakeServer {
  url: string
  /** Every request that matched an operation, in order. */
  received: Received[]
  /** What a request or an answer had that the table of operations does not allow: always to be empty. */
  breaches: string[]
  stop(): Promise<void>
}

/** A raw response, for headers and statuses. */
const isResponse = (value: unknown): value is Response => value instanceof Response

/**
 * A real HTTP server whose routes are the table's: it checks that each request keeps to the contract in params, query and
 * body, and that what the test answers does too. An `AppError` thrown by an answer travels as an error body.
 */
export function startFakeServer(answers: Answers, options: { port?: number; webSocket?: LogSocket } = {}): FakeServer {
  const received: Received[] = []
  const breaches: string[] = []
  const handle = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    const found = match(request.method, url.pathname)
    if (found === undefined) return failure(new AppError('not_found', `No route ${request.method} ${url.pathname}`))
    const call = await read(found, request, url)
    received.push(call)
    breaches.push(...breachesOf(call))
    const answer = answers[found.id]
    if (answer === undefined) return failure(new AppError('internal', `The test has no answer for ${found.id}`))
    try {
      return respond(found.id, await answer(call), breaches)
    } catch (error) {
      if (error instanceof AppError) return failure(error)
      throw error
    }
  }
  const server = Bun.serve<Received, never>({
    port: options.port ?? 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 1024 ** 3,
    async fetch(request, self) {
      if (request.headers.get('upgrade') !== 'websocket') return handle(request)
      const url = new URL(request.url)
      const found = match('GET', url.pathname)
      if (found === undefined || options.webSocket === undefined) return failure(new AppError('not_found', 'No such WebSocket'))
      const call = await read(found, request, url)
      received.push(call)
      breaches.push(...breachesOf(call))
      return self.upgrade(request, { data: call }) ? undefined : failure(new AppError('bad_request', 'Not an upgrade'))
    },
    websocket: {
      open: (socket) => options.webSocket?.(socket.data, { send: (text) => void socket.send(text), drop: () => socket.terminate() }),
      message() {},
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, received, breaches, stop: () => server.stop(true) }
}

export type LogSocket = (received: Received, socket: { send(text: string): void; drop(): void }) => void

interface Matched {
  id: OperationId
  params: Record<string, string>
}

function match(method: string, path: string): Matched | undefined {
  for (const id of operationIds) {
    const operation = operationOf(id)
    const pattern = new RegExp(`^${operation.path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`)
    const found = operation.method === method ? pattern.exec(path) : null
    if (found === null) continue
    const params = Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)])
    return { id, params: Object.fromEntries(params) }
  }
  return undefined
}

async function read({ id, params }: Matched, request: Request, url: URL): Promise<Received> {
  const operation = operationOf(id)
  const isJson = request.headers.get('content-type')?.startsWith('application/json') === true
  const query: Record<string, unknown> = {}
  for (const name of new Set(url.searchParams.keys())) {
    const schema = operation.query?.properties[name]
    const values = url.searchParams.getAll(name)
    query[name] = schema?.type === 'array' ? values : readAs(schema?.type, values[0] ?? '')
  }
  return { id, params, query, body: isJson ? await request.json() : undefined, headers: request.headers, request }
}

function readAs(type: unknown, text: string): unknown {
  if (type === 'boolean') return text === 'true'
  return type === 'integer' || type === 'number' ? Number(text) : text
}

function breachesOf({ id, params, query, body, headers }: Received): string[] {
  const operation = operationOf(id)
  const strict = (schema: TSchema | undefined) => (schema === undefined ? undefined : { ...schema, additionalProperties: false })
  return [
    ...check(`${id} params`, operation.params, params),
    ...check(`${id} query`, strict(operation.query), query),
    ...(body === undefined && (operation.body === undefined || operation.bodyOptional) ? [] : check(`${id} body`, operation.body, body)),
    ...(operation.query === undefined && Object.keys(query).length > 0 ? [`${id} takes no query`] : []),
    ...(operation.creates && !headers.has('idempotency-key') ? [`${id} without Idempotency-Key`] : []),
  ]
}

const check = (what: string, schema: TSchema | undefined, value: unknown): string[] =>
  schema === undefined ? [] : [...Value.Errors(schema, value)].map(({ path, message }) => `${what}${path}: ${message}`)

function respond(id: OperationId, value: unknown, breaches: string[]): Response {
  if (isResponse(value)) return value
  const [status, schema] =
    Object.entries(operationOf(id).responses).find(([, candidate]) =>
      candidate === null ? value === undefined : Value.Check(candidate, value),
    ) ?? []
  if (status === undefined) breaches.push(`${id} answer: ${JSON.stringify(value)}`)
  return schema === null ? new Response(null, { status: Number(status) }) : Response.json(value, { status: Number(status ?? 200) })
}

export function failure(error: AppError): Response {
  const body: ErrorBody = {
    message: error.message,
    code: error.code,
    id: 'req-1',
    ...(error.details.length > 0 ? { details: error.details } : {}),
  }
  return Response.json(body, { status: errorStatus[error.code] })
}
