import type { ErrorBody } from '../../../../shared/error.ts'
import type { ReplyOf } from '../../../../shared/operation.ts'
import type { OperationId, Operations } from '../../../../shared/operations/all.ts'
import { sessionTokenOf } from '../../../http/access/credential.ts'
import type { Dispatch, DispatchInput } from '../../../http/mount/dispatch.ts'
import type { RequestContext } from '../../../http/requests/request-context.ts'
import { findSessionUser, type SessionUser } from '../../../identity/sessions/store.ts'
import type { ApiContext } from '../../context.ts'
import type { Problem } from '../markup/form.ts'
import type { PageReply } from './reply.ts'

export type Outcome<T> =
  | { isDone: true; body: T; cookies: readonly string[]; headers: Headers }
  | { isDone: false; status: number; error: ErrorBody; retryAfter: string | null }

export interface PageRequest {
  readonly url: URL
  /** Form fields; empty for a GET. */
  readonly fields: Readonly<Record<string, string>>
  readonly request: Request
  readonly context: ApiContext
  ask<Id extends OperationId>(id: Id, input?: DispatchInput): Promise<Outcome<ReplyOf<Operations[Id]>>>
}

export type Page = (request: PageRequest) => Promise<PageReply> | PageReply

export function openPageRequest(
  received: RequestContext,
  fields: Readonly<Record<string, string>>,
  { dispatch, context }: { dispatch: Dispatch; context: ApiContext },
): PageRequest {
  return {
    url: new URL(received.request.url),
    fields,
    request: received.request,
    context,
    async ask(id, input) {
      const response = await dispatch(received, id, input)
      const text = await response.text()
      const body = text === '' ? undefined : JSON.parse(text)
      if (response.ok) return { isDone: true, body, cookies: response.headers.getSetCookie(), headers: response.headers }
      return { isDone: false, status: response.status, error: body, retryAfter: response.headers.get('retry-after') }
    },
  }
}

export const problemOf = ({ error: { message, details = [] } }: { error: ErrorBody }): Problem => ({
  message,
  fields: Object.fromEntries(details.map((detail) => [detail.path.slice(1), detail.message])),
})

/** Returns who is logged in, by the cookie alone. What they may do, the API decides when it is asked. */
export function viewerOf({ request, context: { db, now } }: PageRequest): SessionUser | undefined {
  const token = sessionTokenOf(request.headers)
  return token === undefined ? undefined : findSessionUser(db, token, now())
}
