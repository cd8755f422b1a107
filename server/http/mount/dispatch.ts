import type { Operation } from '../../../shared/operation.ts'
import type { RequestContext } from '../requests/request-context.ts'
import type { Serve } from './mount.ts'

export interface DispatchInput {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
  workspaceId?: string
}

/** Calls an operation for a page of ours by the way of every request, so that a page can do nothing that the API would not. */
export type Dispatch = (received: RequestContext, id: string, input?: DispatchInput) => Promise<Response>

const ownHeaders = ['authorization', 'content-type', 'content-length', 'transfer-encoding', 'idempotency-key', 'x-workspace-id', 'accept']

export function createDispatch(table: Readonly<Record<string, Operation>>, serving: ReadonlyMap<string, Serve>): Dispatch {
  return async (received, id, input = {}) => {
    const operation = table[id]
    const serve = serving.get(id)
    if (operation === undefined || serve === undefined) throw new Error(`There is no operation ${id}`)
    const { params = {} } = input
    const response = await serve({ ...received, request: requestOf(received.request, operation, input) }, { ...params })
    if (response === undefined) throw new Error(`${id} opens a WebSocket, which a page cannot`)
    return response
  }
}

function requestOf(outer: Request, operation: Operation, { params = {}, query = {}, body, workspaceId = '' }: DispatchInput): Request {
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const url = new URL(path, outer.url)
  url.search = new URLSearchParams(query).toString()
  const headers = new Headers(outer.headers)
  for (const name of ownHeaders) headers.delete(name)
  if (workspaceId !== '') headers.set('x-workspace-id', workspaceId)
  if (body !== undefined) headers.set('content-type', 'application/json')
  return new Request(url.href, {
    method: operation.method,
    headers,
    signal: outer.signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}
