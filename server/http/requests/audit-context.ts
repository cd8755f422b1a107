import { AppError } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'
import { credentialOf } from '../access/credential.ts'
import type { AuditMoment, AuditPort } from '../handlers/audit.ts'
import type { Actor, AuditFacts, Call, Handler } from '../handlers/call.ts'
import type { Visit } from './request-context.ts'

/** What the audit log is told of one request, gathered while it is answered. */
export interface Attempt {
  operationId: string
  audit: AuditPort
  /** When its change is written down; undefined for a request that changes nothing. */
  moment: AuditMoment | undefined
  facts: AuditFacts
  /** Whether who calls, and in which workspace, is still being looked at. */
  isAtDoor: boolean
  isWritten: boolean
  /** Keeps the answer for a request that comes again with its key; absent where it has none. */
  keepAnswer?: (reply: unknown) => void
}

export const openAttempt = (operationId: string, audit: AuditPort): Attempt => ({
  operationId,
  audit,
  moment: audit.momentOf(operationId),
  facts: {},
  isAtDoor: true,
  isWritten: false,
})

/** Adds facts to those that are known; of metadata, each field. */
export function addFacts({ facts }: Attempt, more: AuditFacts): void {
  Object.assign(facts, more, { metadata: { ...facts.metadata, ...more.metadata } })
}

/** Makes a change together with its entry, where the request is one that is written down. */
export function recordChange<T>(attempt: Attempt, call: Call<Operation>, apply: () => T): T {
  const { operationId, audit, moment, facts } = attempt
  // All that such a handler does is one change already.
  if (moment === undefined || (moment === 'around' && attempt.isWritten)) return apply()
  if (attempt.isWritten) throw new Error(`${operationId} makes two changes, of which one alone would be in the audit log with its request`)
  attempt.isWritten = true
  return audit.record({ operationId, call, facts }, apply)
}

/** Has the handler answer. One that does not wait does all it does in one transaction with its entry. */
export async function perform<C>(
  attempt: Attempt,
  call: Call<Operation>,
  { handler, context }: { handler: Handler<Operation, C>; context: C },
) {
  if (attempt.moment === 'around')
    return recordChange(attempt, call, () => {
      const reply = settled(attempt, handler(call, context))
      attempt.keepAnswer?.(reply)
      return reply
    })
  const reply = await handler(call, context)
  if (attempt.moment === 'in_handler' && !attempt.isWritten && !attempt.facts.isUnchanged)
    throw new Error(`${attempt.operationId} made no change through call.change, and so has no entry in the audit log`)
  return reply
}

/** What a promise does comes after the transaction. */
function settled<T>({ operationId }: Attempt, reply: T): T {
  if (reply instanceof Promise) {
    reply.catch(() => {})
    throw new Error(`${operationId} waits for something: it belongs among the audited handlers that use call.change`)
  }
  return reply
}

/** Tells the audit log of a request that was refused for who sent it. */
export function tellDenied(attempt: Attempt, visit: Visit, error: unknown): void {
  if (!(error instanceof AppError) || !isDenial(attempt, visit, error)) return
  const { request, requestId } = visit
  const { operationId, isAtDoor, facts } = attempt
  const asked = { operationId, isAtDoor, method: request.method, path: new URL(request.url).pathname, requestId, address: visit.address() }
  attempt.audit.denied({ ...asked, reason: error.code, message: error.message, actor: callerOf(visit), facts })
}

/** A credential that is none, a right that is lacking, a workspace that is another's. */
function isDenial({ isAtDoor }: Attempt, { request }: Visit, { code }: AppError): boolean {
  if (code === 'forbidden') return true
  if (code === 'not_found') return isAtDoor
  // Whoever shows nothing has attempted nothing; what a handler finds wrong is a password or a code.
  return code === 'unauthorized' && (!isAtDoor || credentialOf(request.headers).kind !== 'none')
}

/** Who it was, in the workspace that is theirs. */
function callerOf({ request, parts }: Visit): Actor | undefined {
  const credential = credentialOf(request.headers)
  if (credential.kind === 'none' || credential.kind === 'malformed') return undefined
  return parts.identify(credential)?.actorIn(undefined)
}
