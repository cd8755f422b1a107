import type { AppError } from '../../../shared/error.ts'
import type { BodyOf, Operation, ParamsOf, Protection, QueryOf, ReplyOf } from '../../../shared/operation.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { SocketEvents } from '../sockets/sockets.ts'
import type { AuditMomentOf } from './audit-moment.ts'

/** What somebody is confined to, by ids. What is in none of the sets is out of reach, so empty ones are nothing at all. */
export interface ActorScope {
  serviceIds: ReadonlySet<string>
  environmentIds: ReadonlySet<string>
  projectIds: ReadonlySet<string>
  reach: ReadonlySet<string>
}

/** Who is calling, with what they may do in which workspace. Made anew for each request from the stored credential. */
export interface Actor {
  type: 'user' | 'api_key' | 'static_token'
  id: string
  name: string
  email?: string
  workspaceId: string
  role: string
  permissions: ReadonlySet<Permission>
  scope: ActorScope | undefined
  /** What the operation that is called says of protected environments; only for who lacks the right to these. */
  guarded?: Protection
  isTwoFactorMissing?: true
}

/** What the audit entry of a request says beyond what the table of audited events says; never a secret. */
export interface AuditFacts {
  actor?: { type: 'user'; id: string; email: string }
  workspaceIds?: readonly string[]
  target?: string
  metadata?: Record<string, unknown>
  /** Nothing was changed after all: there is no entry. */
  isUnchanged?: true
}

export interface CheckedCall<O extends Operation> {
  actor: O['access'] extends 'public' ? Actor | undefined : Actor
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  request: Request
  requestId: string
  /** Address of the client; a forwarded one only when a trusted proxy says so. */
  clientAddress: string
  signal: AbortSignal
  /** The caller as of now, after a long body or while a WebSocket goes on. @throws AppError `unauthorized`, `forbidden` or `not_found`. */
  requireRight(): CheckedCall<O>['actor']
  deny(error: AppError): void
  note(facts: AuditFacts): void
}

export interface ChangeAfterWaiting<O extends Operation> {
  /** Makes a change and its audit entry in one transaction; the right is asked for again first. @throws AppError as `requireRight`. */
  change<T>(apply: () => T): T
  /** Keeps this answer, within the change, for a request that comes again with its Idempotency-Key: nothing is done twice. */
  keepAnswer(reply: ReplyOf<O>): void
}

export interface Upgrade {
  /** @throws AppError `bad_request` when the request is no WebSocket handshake. */
  upgrade(events: SocketEvents): void
}

interface Calls<O extends Operation> {
  none: CheckedCall<O>
  around: CheckedCall<O>
  in_handler: CheckedCall<O> & ChangeAfterWaiting<O>
  at_upgrade: CheckedCall<O> & Upgrade
}

export type Call<O extends Operation> = Calls<O>[AuditMomentOf<O>]

export type AnyCall = CheckedCall<Operation> & ChangeAfterWaiting<Operation> & Upgrade

const answered = Symbol('answered')

export interface Answer<T> {
  [answered]: true
  status: number
  body: T
  headers: Record<string, string>
  cookies: readonly string[]
}

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

export type Handler<O extends Operation, C> = (call: Call<O>, context: C) => Returned<O>

export type AnyHandler<C> = (call: AnyCall, context: C) => unknown

export type Handlers<Ids extends keyof Operations, C> = { [K in Ids]: Handler<Operations[K], C> }
