import type { ErrorCode } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'
import type { Actor, AuditFacts, Call } from './call.ts'

/**
 * When the entry of a change is written. `around`: with all that the handler writes, in one transaction. `in_handler`: the handler
 * waits for something, and does its writing in one `call.change`. `at_upgrade`: when the WebSocket is opened.
 */
export type AuditMoment = 'around' | 'in_handler' | 'at_upgrade'

/** A request that changes something. */
export interface AuditedChange {
  operationId: string
  call: Call<Operation>
  /** What the handler adds, looked at when it is done. */
  facts: AuditFacts
}

/** A request that was refused. */
export interface DeniedAttempt {
  operationId: string
  method: string
  path: string
  reason: ErrorCode
  /** Whether for who called, and not for what they sent: a token that is none, not a password that is wrong. */
  isAtDoor: boolean
  message: string
  actor: Actor | undefined
  /** Address of the client. */
  address: string
  requestId: string
  facts: AuditFacts
}

/** The audit log, as far as the serving of requests knows it. */
export interface AuditPort {
  /** Undefined for an operation that changes nothing. */
  momentOf(operationId: string): AuditMoment | undefined
  /** Makes a change together with its entry: both or neither. @throws whatever `apply` throws. */
  record<T>(change: AuditedChange, apply: () => T): T
  denied(attempt: DeniedAttempt): void
}
