import type { Operations } from '../../../shared/api.ts'
import type { AppError } from '../../../shared/error.ts'
import type { BodyOf, Operation, ParamsOf, QueryOf, ReplyOf } from '../../../shared/operation.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { SocketEvents } from '../sockets/sockets.ts'
import type { AuditMomentOf } from './audit-moment.ts'

/** Who is calling, with what they may do in which workspace. Made anew for each request from the stored credential. */
export interface Actor {
  type: 'user' | 'api_key' | 'static_token'
  /** Id of the user or key; the seeded administrator's for the static token. */
  id: string
  name: string
  email?: string
  workspaceId: string
  role: string
  permissions: ReadonlySet<Permission>
  /** Ids of the services the caller is confined to; undefined is the whole workspace. */
  scope: ReadonlySet<string> | undefined
  /** The workspace wants a second factor, and this user has none: they may do what needs no permission. */
  isTwoFactorMissing?: true
}

/** What the audit entry of a request says beyond what the table of audited events says; never a secret. */
export interface AuditFacts {
  /** Who it was, where that shows only on the way: a sign-in. */
  actor?: { type: 'user'; id: string; email: string }
  /** In whose log it stands, where that is another than the caller's. */
  workspaceIds?: readonly string[]
  target?: string
  metadata?: Record<string, unknown>
  /** Nothing was changed after all: there is no entry. */
  isUnchanged?: true
}

/** A request whose parameters, query and body are checked. */
export interface CheckedCall<O extends Operation> {
  actor: O['access'] extends 'public' ? Actor | undefined : Actor
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  request: Request
  requestId: string
  /** Address of the client; a forwarded one only when a trusted proxy says so. */
  clientAddress: string
  /** Aborts when the client goes away. */
  signal: AbortSignal
  /**
   * Asks again whether the caller may do this, for a handler that reads a long body itself.
   *
   * @throws AppError `unauthorized`, `forbidden` or `not_found` when the right has ended meanwhile.
   */
  requireRight(): void
  /** Reports to the audit log a refusal that is answered by a page and not as an error. */
  deny(error: AppError): void
  /** Adds to what the audit entry of this request says. */
  note(facts: AuditFacts): void
}

/** What a handler is given beside the request, if it has to wait before its change. */
export interface ChangeAfterWaiting<O extends Operation> {
  /**
   * Makes a change and its entry of the audit log in one transaction; the right is asked for again first.
   *
   * @throws AppError as `requireRight`.
   */
  change<T>(apply: () => T): T
  /**
   * Keeps this answer, within the change, for a request that comes again with its Idempotency-Key: should we end before it is sent,
   * nothing is done twice and nothing of the answer is lost.
   */
  keepAnswer(reply: ReplyOf<O>): void
}

/** What a handler is given beside the request, if its operation has `webSocket`. */
export interface Upgrade {
  /**
   * Turns the request into a WebSocket; the handler then returns nothing.
   *
   * @throws AppError `bad_request` when it is no WebSocket handshake.
   */
  upgrade(events: SocketEvents): void
}

interface Calls<O extends Operation> {
  none: CheckedCall<O>
  around: CheckedCall<O>
  in_handler: CheckedCall<O> & ChangeAfterWaiting<O>
  at_upgrade: CheckedCall<O> & Upgrade
}

/** What the handler of this operation is given: only one that waits before its change opens the transaction by itself. */
export type Call<O extends Operation> = Calls<O>[AuditMomentOf<O>]

/** A call under its general type, for code that serves every operation. */
export type AnyCall = CheckedCall<Operation> & ChangeAfterWaiting<Operation> & Upgrade

const answered = Symbol('answered')

/** An answer with another than the operation's first status, or with headers. */
export interface Answer<T> {
  [answered]: true
  status: number
  body: T
  headers: Record<string, string>
  /** Values of Set-Cookie, beside that among the headers. */
  cookies: readonly string[]
}

/** Answers with this status and these headers. */
export const answer = <T>(status: number, body: T, headers: Record<string, string> = {}, cookies: readonly string[] = []): Answer<T> => ({
  [answered]: true,
  status,
  body,
  headers,
  cookies,
})

export const isAnswer = (value: unknown): value is Answer<unknown> => typeof value === 'object' && value !== null && answered in value

type Reply<T> = T | Answer<T> | Response

/** A handler whose change is made around it returns at once: what a promise does comes after the transaction. */
type Returned<O extends Operation> = AuditMomentOf<O> extends 'around' ? Reply<ReplyOf<O>> : Reply<ReplyOf<O>> | Promise<Reply<ReplyOf<O>>>

/** What answers one operation: parse is done, permission is checked; it calls one function and presents the result. */
export type Handler<O extends Operation, C> = (call: Call<O>, context: C) => Returned<O>

/** A handler under its general type, for code that serves every operation. */
export type AnyHandler<C> = (call: AnyCall, context: C) => unknown

/** Handlers of some operations, by operation id; a slice's routes.ts exports one of these. */
export type Handlers<Ids extends keyof Operations, C> = { [K in Ids]: Handler<Operations[K], C> }
