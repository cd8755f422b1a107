import type { OperationId, Operations } from '../../../shared/api.ts'
import type { Operation, ReplyOf } from '../../../shared/operation.ts'
import type { Call } from '../../http/handlers/call.ts'
import type { Snapshot } from './differences.ts'

/** Operations that change something though their method is GET. */
type ChangingGet = 'openShell' | 'openJobTerminal' | 'completeOAuth'

/** Everything that may change something. Each has its event in events.ts, which does not compile without. */
export type ChangingId = { [Id in OperationId]: Operations[Id]['method'] extends 'GET' ? never : Id }[OperationId] | ChangingGet

/** What the audit log tells of one operation. */
export interface AuditEvent<O extends Operation, C> {
  /** What happened, such as `service.updated`. */
  event: string
  /** Id of what it happened to. The reply is undefined where the handler writes for itself: it notes the target then. */
  target?(call: Call<O>, reply: ReplyOf<O> | undefined): string | undefined
  /** What is changed, as it is now; undefined where it is not there. Looked at before and after. */
  read?(call: Call<O>, context: C): Snapshot | undefined
  /** Whether this request changes anything; absent: it does. */
  isChange?(call: Call<O>): boolean
  /** The handler waits for something, and makes its change in one `call.change`. */
  inHandler?: true
  /** About a person and not about a workspace: it stands in the log of each workspace they are in. */
  isPersonal?: true
}

export type AuditEvents<C> = { [Id in ChangingId]: AuditEvent<Operations[Id], C> }

/** The same under its general type, for code that serves every operation. */
export type AnyAuditEvent<C> = AuditEvent<Operation, C>
