import type { ErrorCode } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'
import type { Actor, AuditFacts, CheckedCall } from './call.ts'

/** A request that changes something. */
export interface AuditedChange {
  operationId: string
  call: CheckedCall<Operation>
  /** What the handler adds, looked at when it is done. */
  facts: AuditFacts
}

/** A request that was refused. */
export interface DeniedRequest {
  operationId: string
  method: string
  path: string
  reason: ErrorCode
  /** Whether the caller was let in, and refused for what they sent: a password that is wrong, not a token that is none. */
  isAdmitted: boolean
  message: string
  actor: Actor | undefined
  /** Address of the client. */
  address: string
  requestId: string
  facts: AuditFacts
}

/** The audit log, as far as the serving of requests knows it. */
export interface AuditPort {
  /** Makes a change together with its entry, if its operation has one: both or neither. @throws whatever `apply` throws. */
  record<T>(change: AuditedChange, apply: () => T): T
  denied(attempt: DeniedRequest): void
}
