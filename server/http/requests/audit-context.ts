import { AppError } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'
import { credentialOf } from '../access/credential.ts'
import type { AuditPort } from '../handlers/audit.ts'
import { type AuditMoment, auditMomentOf } from '../handlers/audit-moment.ts'
import type { Actor, AnyCall, AnyHandler, AuditFacts } from '../handlers/call.ts'
import type { RequestContext } from './request-context.ts'

export interface AuditContext {
  operationId: string
  audit: AuditPort
  moment: AuditMoment
  facts: AuditFacts
  isAdmitted: boolean
  isWritten: boolean
  keepAnswer?: (reply: unknown) => void
}

export const openAuditContext = (operationId: string, operation: Operation, audit: AuditPort): AuditContext => ({
  operationId,
  audit,
  moment: auditMomentOf(operation),
  facts: {},
  isAdmitted: false,
  isWritten: false,
})

export function addFacts({ facts }: AuditContext, more: AuditFacts): void {
  Object.assign(facts, more, { metadata: { ...facts.metadata, ...more.metadata } })
}

/** Makes a change together with its entry. @throws Error for the second change of one request, which would have none. */
export function recordChange<T>(context: AuditContext, call: AnyCall, apply: () => T): T {
  const { operationId, audit, facts } = context
  if (context.isWritten) throw new Error(`${operationId} makes two changes, of which one alone would be in the audit log with its request`)
  context.isWritten = true
  return audit.record({ operationId, call, facts }, apply)
}

export async function perform<C>(
  audited: AuditContext,
  call: AnyCall,
  { handler, context }: { handler: AnyHandler<C>; context: C },
): Promise<unknown> {
  if (audited.moment === 'around')
    return recordChange(audited, call, () => {
      const reply = handler(call, context)
      audited.keepAnswer?.(reply)
      return reply
    })
  const reply = await handler(call, context)
  if (audited.moment === 'in_handler' && !audited.isWritten && !audited.facts.isUnchanged)
    throw new Error(`${audited.operationId} made no change through call.change, and so has no entry in the audit log`)
  return reply
}

type Denied = Pick<AuditContext, 'operationId' | 'audit' | 'facts' | 'isAdmitted'>

export function reportDenied(context: Denied, received: RequestContext, error: unknown): void {
  if (!(error instanceof AppError) || !isDenial(context, received, error)) return
  const { request, requestId } = received
  const { operationId, isAdmitted, facts } = context
  const asked = {
    operationId,
    isAdmitted,
    method: request.method,
    path: new URL(request.url).pathname,
    requestId,
    address: received.address(),
  }
  context.audit.denied({ ...asked, reason: error.code, message: error.message, actor: callerOf(received), facts })
}

function isDenial({ isAdmitted }: Denied, { request }: RequestContext, { code }: AppError): boolean {
  if (code === 'forbidden') return true
  if (code === 'not_found') return !isAdmitted
  // Whoever shows nothing has attempted nothing; what a handler finds wrong is a password or a code.
  return code === 'unauthorized' && (isAdmitted || credentialOf(request.headers).kind !== 'none')
}

function callerOf({ request, parts }: RequestContext): Actor | undefined {
  const credential = credentialOf(request.headers)
  if (credential.kind === 'none' || credential.kind === 'malformed') return undefined
  return parts.identify(credential)?.actorIn(undefined)
}
