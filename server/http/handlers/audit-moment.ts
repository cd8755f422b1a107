import type { Operation } from '../../../shared/operation.ts'

/**
 * When the audit entry of a request is written. `around`: in one transaction with all that the handler writes. `in_handler`: the handler
 * waits for something, and does its writing in one `call.change`. `at_upgrade`: when the WebSocket is opened. `none`: it changes nothing.
 */
export type AuditMoment = 'none' | 'around' | 'in_handler' | 'at_upgrade'

/** The moment of an operation, as the compiler knows it from the table of operations. */
export type AuditMomentOf<O extends Operation> = O extends { webSocket: true }
  ? 'at_upgrade'
  : O extends { changes: 'after_waiting' }
    ? 'in_handler'
    : O extends { method: 'GET' }
      ? 'none'
      : 'around'

/** The moment of an operation, by the rules of the type `AuditMomentOf`. */
export function auditMomentOf({ webSocket, changes, method }: Operation): AuditMoment {
  if (webSocket) return 'at_upgrade'
  if (changes === 'after_waiting') return 'in_handler'
  return method === 'GET' ? 'none' : 'around'
}
