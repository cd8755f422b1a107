import type { Operation } from '../../../shared/operation.ts'

/** When the audit entry of a request is written: never, around the handler, in its one `call.change`, or when its WebSocket opens. */
export type AuditMoment = 'none' | 'around' | 'in_handler' | 'at_upgrade'

export type AuditMomentOf<O extends Operation> = O extends { webSocket: true }
  ? 'at_upgrade'
  : O extends { changes: 'after_waiting' }
    ? 'in_handler'
    : O extends { method: 'GET' }
      ? 'none'
      : 'around'

export function auditMomentOf({ webSocket, changes, method }: Operation): AuditMoment {
  if (webSocket) return 'at_upgrade'
  if (changes === 'after_waiting') return 'in_handler'
  return method === 'GET' ? 'none' : 'around'
}
