import type { Operations } from '../../../shared/operations/all.ts'
import { DEFAULT_PAGE_ITEMS, decodeCursor, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import { firstSequenceAt, listEntries } from '../audit-chain/store.ts'
import type { IdentityContext } from '../context.ts'
import { checkpointOf, exportChain } from './export.ts'

type AuditIds = Extract<keyof Operations, 'listAuditLogs' | 'listOwnerAuditLogs' | 'exportAuditLogs' | 'getAuditCheckpoint'>
type Query = Parameters<Handlers<'listOwnerAuditLogs', IdentityContext>['listOwnerAuditLogs']>[0]['query']

export const auditRoutes: Handlers<AuditIds, IdentityContext> = {
  listAuditLogs: ({ actor, query }, context) => pageFor(context, actor.workspaceId, query),
  listOwnerAuditLogs: ({ actor, query }, context) => pageFor(context, actor.workspaceId, query),
  exportAuditLogs({ actor, query }, context) {
    const stream = exportChain(context, actor.workspaceId, query.fromSequence ?? 1)
    return new Response(stream, { headers: { 'Content-Type': 'application/x-ndjson' } })
  },
  getAuditCheckpoint: ({ actor }, context) => checkpointOf(context, actor.workspaceId),
}

function pageFor({ db }: IdentityContext, workspaceId: string, query: Query) {
  const { startTime, endTime, direction = 'backward', event = [], actor = [], limit = DEFAULT_PAGE_ITEMS, cursor } = query
  const isForward = direction === 'forward'
  const passed = decodeCursor(cursor, ['number'])?.[0] as number | undefined
  const earliest = startTime === undefined ? 0 : firstSequenceAt(db, workspaceId, Date.parse(startTime)) - 1
  const latest = endTime === undefined ? Number.MAX_SAFE_INTEGER : firstSequenceAt(db, workspaceId, Date.parse(endTime) + 1)
  const entries = listEntries(db, workspaceId, {
    events: event,
    actors: actor,
    after: isForward ? Math.max(earliest, passed ?? 0) : earliest,
    before: isForward ? latest : Math.min(latest, passed ?? latest),
    order: isForward ? 'ASC' : 'DESC',
    limit,
  })
  return pageOf('auditLog', entries, ({ sequence }) => [sequence])
}
