/**
 * A change is made here, in one transaction with its entry: a process that dies in between leaves both or neither. Refusals are told after
 * the answer and bounded (denials.ts), because whoever is refused decides how many there are.
 */

import type { Operation } from '../../../shared/operation.ts'
import type { OperationId } from '../../../shared/operations/all.ts'
import { operationOf } from '../../../shared/operations/all.ts'
import type { AuditedChange, AuditPort } from '../../http/handlers/audit.ts'
import { type Actor, type AuditFacts, isAnswer } from '../../http/handlers/call.ts'
import { inOneChange } from '../../platform/db/change.ts'
import type { NewEntry } from '../audit-chain/chain.ts'
import { masked } from '../audit-chain/mask.ts'
import type { IdentityContext } from '../context.ts'
import { listWorkspacesOf } from '../memberships/store.ts'
import { actorOf } from './actor.ts'
import { createDenials } from './denials.ts'
import { differencesOf, type Snapshot } from './differences.ts'
import type { AnyAuditEvent, AuditEvents } from './event.ts'

export function createAuditTrail<C extends IdentityContext>(context: C, events: AuditEvents<C>): AuditPort {
  const denials = createDenials(context)
  // Each event fits its own operation, which its type says.
  const eventOf = (id: string) => (events as unknown as Readonly<Record<string, AnyAuditEvent<C> | undefined>>)[id]
  return {
    record(change, apply) {
      const { call, facts } = change
      const event = eventOf(change.operationId)
      if (event === undefined || event.isChange?.(call) === false) return apply()
      return inOneChange(context.db, () => {
        const before = event.read?.(call, context)
        const reply = apply()
        if (isChanged(reply, facts)) {
          const after = event.read?.(call, context)
          context.audit.append(chainsOf(context, event, change), entryOf(event, change, { reply, before, after }))
        }
        return reply
      })
    },
    denied: denials.report,
  }
}

function isChanged(reply: unknown, { isUnchanged, target }: AuditFacts): boolean {
  return isUnchanged !== true && (!isRefusal(reply) || target !== undefined)
}

const isRefusal = (reply: unknown): boolean => (isAnswer(reply) || reply instanceof Response) && reply.status >= 400

function chainsOf({ db }: IdentityContext, event: Pick<AnyAuditEvent<never>, 'isPersonal'>, { call, facts }: AuditedChange): string[] {
  if (facts.workspaceIds !== undefined) return [...facts.workspaceIds]
  const actor = call.actor as Actor | undefined
  const userId = facts.actor?.id ?? (actor?.type === 'user' ? actor.id : undefined)
  if (event.isPersonal && userId !== undefined) return listWorkspacesOf(db, userId).map(({ id }) => id)
  return actor === undefined ? [] : [actor.workspaceId]
}

interface Outcome {
  reply: unknown
  before: Snapshot | undefined
  after: Snapshot | undefined
}

function entryOf(event: AnyAuditEvent<never>, { operationId, call, facts }: AuditedChange, { reply, before, after }: Outcome): NewEntry {
  const target = facts.target ?? event.target?.(call, bodyOf(reply) as never)
  return {
    event: event.event,
    status: isRefusal(reply) ? 'error' : 'success',
    actor: facts.actor ?? actorOf(call.actor as Actor | undefined),
    ...(target !== undefined && { target }),
    ip: call.clientAddress,
    requestId: call.requestId,
    metadata: {
      operation: operationId,
      ...askedFor(operationOf(operationId as OperationId), call),
      ...changed(before, after),
      ...noted(facts),
    },
  }
}

function bodyOf(reply: unknown): unknown {
  if (reply instanceof Response) return undefined
  return isAnswer(reply) ? reply.body : reply
}

function askedFor({ params, query, body }: Operation, call: AuditedChange['call']): { request?: unknown } {
  const fields: Record<string, unknown> = {
    ...(params !== undefined && (masked(call.params, params) as object)),
    ...(query !== undefined && (masked(call.query, query) as object)),
  }
  if (Array.isArray(call.body)) fields.items = masked(call.body, body)
  else if (typeof call.body === 'object') Object.assign(fields, masked(call.body, body))
  return Object.keys(fields).length === 0 ? {} : { request: fields }
}

function changed(before: Snapshot | undefined, after: Snapshot | undefined): { changes?: unknown; removed?: unknown } {
  if (before === undefined) return {}
  return after === undefined ? { removed: masked(before) } : { changes: differencesOf(before, after) }
}

const noted = ({ metadata }: AuditFacts): Record<string, unknown> =>
  metadata === undefined ? {} : (masked(metadata) as Record<string, unknown>)
