import type { Operation, ReplyOf } from '../../../shared/operation.ts'
import type { OperationId, Operations } from '../../../shared/operations/all.ts'
import type { AuditMomentOf } from '../../http/handlers/audit-moment.ts'
import type { CheckedCall } from '../../http/handlers/call.ts'
import type { Snapshot } from './differences.ts'

type ChangingSocket = 'openShell' | 'openJobTerminal' | 'openPostgresTunnel'

/** Each of these has its event in events.ts, which does not compile without. */
export type ChangingId =
  | { [Id in OperationId]: AuditMomentOf<Operations[Id]> extends 'none' | 'at_upgrade' ? never : Id }[OperationId]
  | ChangingSocket

export interface AuditEvent<O extends Operation, C> {
  event: string
  /** Id of what it happened to. The reply is undefined where the handler writes for itself: it notes the target then. */
  target?(call: CheckedCall<O>, reply: ReplyOf<O> | undefined): string | undefined
  read?(call: CheckedCall<O>, context: C): Snapshot | undefined
  isChange?(call: CheckedCall<O>): boolean
  /** The entry is about a person: it stands in the log of each workspace they are in. */
  isPersonal?: true
}

export type AuditEvents<C> = { [Id in ChangingId]: AuditEvent<Operations[Id], C> }

export type AnyAuditEvent<C> = AuditEvent<Operation, C>
