import type { ErrorCode } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'
import type { Actor, AuditFacts, CheckedCall } from './call.ts'

export interface AuditedChange {
  operationId: string
  call: CheckedCall<Operation>
  facts: AuditFacts
}

export interface DeniedRequest {
  operationId: string
  method: string
  path: string
  reason: ErrorCode
  /** Whether the caller was let in, and refused for what they sent: a password that is wrong, not a token that is none. */
  isAdmitted: boolean
  message: string
  actor: Actor | undefined
  address: string
  requestId: string
  facts: AuditFacts
}

export interface AuditPort {
  /** Makes a change together with its entry, if its operation has one: both or neither. @throws whatever `apply` throws. */
  record<T>(change: AuditedChange, apply: () => T): T
  denied(request: DeniedRequest): void
}
