/**
 * One function serves every operation of the table, as an Elysia route. The order is fixed: who calls, how often, from which page,
 * in which workspace, with which permission; only then are query and body checked. So a stranger's body is never read, and a
 * validation message never shows what a 401, 403 or 404 hides. Elysia's own validation would come before all that.
 */
import type { Elysia } from 'elysia'
import type { Operation } from '../../../shared/operation.ts'
import { answerOnce, idempotencyKeyOf, requestHashOf } from '../answers/idempotency.ts'
import { createPresenter, type Presenter, storedAnswerOf } from '../answers/output.ts'
import { headersOf, respondAs, respondJson } from '../answers/respond.ts'
import type { Actor, Call, Handler } from '../handlers/call.ts'
import { createInputReader, type InputReader, workspaceOfBody } from '../input/input.ts'
import { BODY_DEADLINE_MS, DEFAULT_MAX_BODY_BYTES } from '../input/json-body.ts'
import { type Admission, admit } from '../requests/admit.ts'
import { type Attempt, addFacts, openAttempt, perform, recordChange, tellDenied } from '../requests/audit-context.ts'
import { respondFailure } from '../requests/fail.ts'
import type { HttpParts } from '../requests/parts.ts'
import { openVisit, type Visit } from '../requests/request-context.ts'
import { requireHandshake, type SocketEvents } from '../sockets/sockets.ts'

export interface Mounted<C> {
  id: string
  operation: Operation
  handler: Handler<Operation, C>
  context: C
}

interface Route<C> extends Mounted<C> {
  input: InputReader
  present: Presenter
}

type RawParams = Record<string, unknown>

/** Answers a request of one operation, with the parameters of its path. Undefined where it has become a WebSocket. */
export type Serve = (visit: Visit, params: RawParams) => Promise<Response | undefined>

/** Adds the route of one operation, with its entry of the OpenAPI document, and gives what answers it. */
export function mountOperation<C>(elysia: Elysia, parts: HttpParts, mounted: Mounted<C>): Serve {
  const { id, operation } = mounted
  const limits = { maxBytes: parts.maxBodyBytes[id] ?? DEFAULT_MAX_BODY_BYTES, deadlineMs: BODY_DEADLINE_MS }
  const route: Route<C> = { ...mounted, input: createInputReader(operation, limits), present: createPresenter(id, operation) }
  // Monitors ask with HEAD; Bun leaves the body out.
  const methods = operation.method === 'GET' && !operation.webSocket ? ['GET', 'HEAD'] : [operation.method]
  for (const method of methods) {
    elysia.route(method, operation.path, ({ request, params }) => serve(route, openVisit(request, parts), (params ?? {}) as RawParams), {
      parse: 'none',
    })
  }
  return (visit, params) => serve(route, visit, params)
}

function serve<C>(route: Route<C>, visit: Visit, params: RawParams): Promise<Response | undefined> {
  const attempt = openAttempt(route.id, visit.parts.audit)
  return answerVisit(route, { visit, attempt }, params).catch((error: unknown) => {
    tellDenied(attempt, visit, error)
    return respondFailure(visit, error)
  })
}

/** One request, and what the audit log is told of it. */
interface Served {
  visit: Visit
  attempt: Attempt
}

async function answerVisit<C>(route: Route<C>, { visit, attempt }: Served, params: RawParams): Promise<Response | undefined> {
  const { operation, input } = route
  const { request } = visit
  const query = input.query(request.url)
  const admission = admit(visit, operation, input.workspaceIds(request, params, query))
  input.check(params, query)
  let { actor } = admission
  let body: unknown
  if (operation.body !== undefined) {
    body = await input.body(request)
    // The body took its time: the right may have ended meanwhile, and the body may name the workspace.
    actor = admission.readmit(workspaceOfBody(body))
  }
  attempt.isAtDoor = false
  const call = callOf({ visit, attempt }, admission, { operation, actor, params, query, body })
  const key = operation.creates ? idempotencyKeyOf(request.headers) : undefined
  if (key !== undefined) return answerKeyed(route, { visit, attempt }, { call, key })
  const reply = await perform(attempt, call, route)
  if (operation.webSocket && reply === undefined) return undefined
  if (reply instanceof Response) return respondAs(visit.head(), reply)
  const { status, json, headers, cookies } = route.present(reply)
  const response = respondJson(visit.head(), status, json, headers)
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

async function answerKeyed<C>(
  route: Route<C>,
  { visit, attempt }: Served,
  { call, key }: { call: Call<Operation>; key: string },
): Promise<Response> {
  const { actor, request, body } = call
  const claim = { scope: `${actor?.workspaceId}/${actor?.type}/${actor?.id}/${route.id}`, key, requestHash: requestHashOf(request, body) }
  const { idempotency } = visit.parts
  attempt.keepAnswer = (reply) => idempotency.finish(claim, storedAnswerOf(route.present(reply)))
  const answer = await answerOnce(idempotency, claim, async () => storedAnswerOf(route.present(await perform(attempt, call, route))))
  return respondJson(visit.head(), answer.status, answer.body || undefined, answer.isReplayed ? { 'Idempotent-Replayed': 'true' } : {})
}

interface Checked {
  operation: Operation
  actor: Actor | undefined
  params: RawParams
  query: Record<string, unknown>
  body: unknown
}

function callOf({ visit, attempt }: Served, admission: Admission, { operation, actor, params, query, body }: Checked): Call<Operation> {
  const { request, requestId, parts } = visit
  const call: Call<Operation> = {
    // The general type wants an actor; operations that are public say in their own type that there may be none.
    actor: actor as Actor,
    params,
    query,
    body,
    request,
    requestId,
    get clientAddress() {
      return visit.address()
    },
    get signal() {
      return request.signal
    },
    requireRight: () => void admission.readmit([]),
    change(apply) {
      admission.readmit(workspaceOfBody(body))
      return recordChange(attempt, call, apply)
    },
    keepAnswer: (reply) => attempt.keepAnswer?.(reply),
    deny: (error) => tellDenied(attempt, visit, error),
    note: (facts) => addFacts(attempt, facts),
    upgrade(events: SocketEvents) {
      const server = parts.server()
      if (!operation.webSocket || server === null) throw new Error('This operation is no WebSocket')
      requireHandshake(request)
      recordChange(attempt, call, () => {})
      parts.sockets.upgrade(server, request, { headers: headersOf(visit.head()), events, isAllowed: () => isStillAdmitted(admission) })
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
