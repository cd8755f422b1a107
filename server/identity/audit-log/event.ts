import type { OperationId, Operations } from '../../../shared/api.ts'
import type { Operation, ReplyOf } from '../../../shared/operation.ts'
import type { AuditMomentOf } from '../../http/handlers/audit-moment.ts'
import type { CheckedCall } from '../../http/handlers/call.ts'
import type { Snapshot } from './differences.ts'

/** WebSockets that change something; the others only listen. */
type ChangingSocket = 'openShell' | 'openJobTerminal'

/** Everything that may change something. Each has its event in events.ts, which does not compile without. */
export type ChangingId =
  | { [Id in OperationId]: AuditMomentOf<Operations[Id]> extends 'none' | 'at_upgrade' ? never : Id }[OperationId]
  | ChangingSocket

/** What the audit log tells of one operation. */
export interface AuditEvent<O extends Operation, C> {
  /** What happened, such as `service.updated`. */
  event: string
  /** Id of what it happened to. The reply is undefined where the handler writes for itself: it notes the target then. */
  target?(call: CheckedCall<O>, reply: ReplyOf<O> | undefined): string | undefined
  /** What is changed, as it is now; undefined where it is not there. Looked at before and after. */
  read?(call: CheckedCall<O>, context: C): Snapshot | undefined
  /** Whether this request changes anything; absent: it does. */
  isChange?(call: CheckedCall<O>): boolean
  /** About a person and not about a workspace: it stands in the log of each workspace they are in. */
  isPersonal?: true
}

export type AuditEvents<C> = { [Id in ChangingId]: AuditEvent<Operations[Id], C> }

/** The same under its general type, for code that serves every operation. */
export type AnyAuditEvent<C> = AuditEvent<Operation, C>
