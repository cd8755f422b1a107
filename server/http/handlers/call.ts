import type { Operations } from '../../../shared/api.ts'
import type { AppError } from '../../../shared/error.ts'
import type { BodyOf, Operation, ParamsOf, QueryOf, ReplyOf } from '../../../shared/operation.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { SocketEvents } from '../sockets/sockets.ts'

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

/** What the audit entry of a request tells beyond what the table of audited events says; never a secret. */
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

/** One request, checked: what a handler is given. */
export interface Call<O extends Operation> {
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
  /**
   * Makes a change and its entry of the audit log in one transaction, for a handler that had to wait before it (for a hash, an
   * upload); the right is asked for again first. What a handler does without waiting is one such transaction already.
   *
   * @throws AppError as `requireRight`.
   */
  change<T>(apply: () => T): T
  /**
   * Keeps this answer for a request that comes again with its Idempotency-Key, within the change of a handler that waits: should we end
   * before it is sent, nothing is done twice and nothing of the answer is lost.
   */
  keepAnswer(reply: ReplyOf<O>): void
  /** Tells the audit log of a refusal that is answered in another way than as an error: by a page that says so. */
  deny(error: AppError): void
  /** Adds to what the audit entry of this request tells. */
  note(facts: AuditFacts): void
  /**
   * Turns the request of an operation with `webSocket` into a WebSocket; the handler then returns nothing.
   *
   * @throws AppError `bad_request` when it is no WebSocket handshake.
   */
  upgrade(events: SocketEvents): void
}

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

/** What answers one operation: parse is done, permission is checked; it calls one function and presents the result. */
export type Handler<O extends Operation, C> = (call: Call<O>, context: C) => Reply<ReplyOf<O>> | Promise<Reply<ReplyOf<O>>>

/** Handlers of some operations, by operation id; a slice's routes.ts exports one of these. */
export type Handlers<Ids extends keyof Operations, C> = { [K in Ids]: Handler<Operations[K], C> }
