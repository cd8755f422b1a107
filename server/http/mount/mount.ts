/**
 * Who calls, how often, from where and with which right comes before query and body: a stranger's body is never read, and a validation
 * message never shows what a 401, 403 or 404 hides. Elysia's own validation would come first.
 */
import type { Elysia } from 'elysia'
import type { Operation } from '../../../shared/operation.ts'
import { asBasicRefusal, withPasswordAsToken } from '../access/basic.ts'
import { answerOnce, idempotencyKeyOf, requestHashOf } from '../answers/idempotency.ts'
import { createPresenter, type Presenter, storedAnswerOf } from '../answers/output.ts'
import { headersOf, respondAs, respondJson } from '../answers/respond.ts'
import type { Actor, AnyCall, AnyHandler } from '../handlers/call.ts'
import { createInputReader, type InputReader, workspaceOfBody } from '../input/input.ts'
import { BODY_DEADLINE_MS, DEFAULT_MAX_BODY_BYTES } from '../input/json-body.ts'
import { type Admission, admit } from '../requests/admit.ts'
import { type AuditContext, addFacts, openAuditContext, perform, recordChange, reportDenied } from '../requests/audit-context.ts'
import { respondFailure } from '../requests/fail.ts'
import type { HttpParts } from '../requests/parts.ts'
import { openRequest, type RequestContext } from '../requests/request-context.ts'
import { requireHandshake, type SocketEvents } from '../sockets/sockets.ts'

export interface Mounted<C> {
  id: string
  operation: Operation
  handler: AnyHandler<C>
  context: C
}

interface Route<C> extends Mounted<C> {
  input: InputReader
  present: Presenter
}

type RawParams = Record<string, unknown>

export type Serve = (received: RequestContext, params: RawParams) => Promise<Response | undefined>

export function mountOperation<C>(elysia: Elysia, parts: HttpParts, mounted: Mounted<C>): Serve {
  const { id, operation } = mounted
  const limits = { maxBytes: parts.maxBodyBytes[id] ?? DEFAULT_MAX_BODY_BYTES, deadlineMs: BODY_DEADLINE_MS }
  const route: Route<C> = { ...mounted, input: createInputReader(operation, limits), present: createPresenter(id, operation) }
  const readable = operation.takesBasic ? withPasswordAsToken : (request: Request) => request
  const methods = operation.method === 'GET' && !operation.webSocket ? ['GET', 'HEAD'] : [operation.method]
  for (const method of methods) {
    elysia.route(
      method,
      operation.path,
      ({ request, params }) => serve(route, openRequest(readable(request), parts), (params ?? {}) as RawParams),
      {
        parse: 'none',
      },
    )
  }
  return (received, params) => serve(route, received, params)
}

function serve<C>(route: Route<C>, received: RequestContext, params: RawParams): Promise<Response | undefined> {
  const audited = openAuditContext(route.id, route.operation, received.parts.audit)
  return answerRequest(route, { received, audited }, params).catch((error: unknown) => {
    reportDenied(audited, received, error)
    const answer = respondFailure(received, error)
    return route.operation.takesBasic ? asBasicRefusal(answer, { request: received.request, error }) : answer
  })
}

interface Served {
  received: RequestContext
  audited: AuditContext
}

async function answerRequest<C>(route: Route<C>, { received, audited }: Served, params: RawParams): Promise<Response | undefined> {
  const { operation, input } = route
  const { request } = received
  const query = input.query(request.url)
  const admission = admit(received, operation, input.workspaceIds(request, params, query))
  input.check(params, query)
  let { actor } = admission
  let body: unknown
  if (operation.body !== undefined) {
    body = await input.body(request)
    // The body took its time: the right may have ended meanwhile, and the body may name the workspace.
    actor = admission.readmit(workspaceOfBody(body))
  }
  audited.isAdmitted = true
  const call = callOf({ received, audited }, admission, { operation, actor, params, query, body })
  const key = operation.creates ? idempotencyKeyOf(request.headers) : undefined
  if (key !== undefined) return answerKeyed(route, { received, audited }, { call, key })
  const reply = await perform(audited, call, route)
  if (operation.webSocket && reply === undefined) return undefined
  if (reply instanceof Response) return respondAs(received.head(), reply)
  const { status, json, headers, cookies } = route.present(reply)
  const response = respondJson(received.head(), status, json, headers)
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

async function answerKeyed<C>(
  route: Route<C>,
  { received, audited }: Served,
  { call, key }: { call: AnyCall; key: string },
): Promise<Response> {
  const { actor, request, body } = call
  const claim = { scope: `${actor?.workspaceId}/${actor?.type}/${actor?.id}/${route.id}`, key, requestHash: requestHashOf(request, body) }
  const { idempotency } = received.parts
  audited.keepAnswer = (reply) => idempotency.finish(claim, storedAnswerOf(route.present(reply)))
  const answer = await answerOnce(idempotency, claim, async () => storedAnswerOf(route.present(await perform(audited, call, route))))
  return respondJson(received.head(), answer.status, answer.body || undefined, answer.isReplayed ? { 'Idempotent-Replayed': 'true' } : {})
}

interface Checked {
  operation: Operation
  actor: Actor | undefined
  params: RawParams
  query: Record<string, unknown>
  body: unknown
}

function callOf({ received, audited }: Served, admission: Admission, { operation, actor, params, query, body }: Checked): AnyCall {
  const { request, requestId, parts } = received
  const call: AnyCall = {
    // The general type wants an actor; operations that are public say in their own type that there may be none.
    actor: actor as Actor,
    params,
    query,
    body,
    request,
    requestId,
    get clientAddress() {
      return received.address()
    },
    get signal() {
      return request.signal
    },
    requireRight: () => admission.readmit([]) as Actor,
    change(apply) {
      admission.readmit(workspaceOfBody(body))
      return recordChange(audited, call, apply)
    },
    keepAnswer: (reply) => audited.keepAnswer?.(reply),
    deny: (error) => reportDenied(audited, received, error),
    note: (facts) => addFacts(audited, facts),
    upgrade(events: SocketEvents) {
      const server = parts.server()
      if (!operation.webSocket || server === null) throw new Error('This operation is no WebSocket')
      requireHandshake(request)
      recordChange(audited, call, () => {})
      parts.sockets.upgrade(server, request, { headers: headersOf(received.head()), events, isAllowed: () => isStillAdmitted(admission) })
    },
  }
  return call
}

function isStillAdmitted(admission: Admission): boolean {
  try {
    return admission.readmit([])?.workspaceId === admission.actor?.workspaceId
  } catch {
    return false
  }
}
