import { AppError } from '../../../shared/error.ts'
import type { LogSubscribeQuery } from '../../../shared/log.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { isAnyOwnerOutside, ownerIdsOf, requireOwner } from '../../apps/owners/owners.ts'
import type { Actor, Handlers } from '../../http/handlers/call.ts'
import type { LogFilter } from '../../telemetry/logs/filter.ts'
import { followLogs } from '../../telemetry/logs/follow.ts'
import { parseLogTime, toWirePage } from '../../telemetry/logs/wire.ts'
import type { InsightContext } from '../context.ts'

type LogIds = Extract<keyof Operations, 'listLogs' | 'subscribeLogs' | 'listLogValues'>

export const logRoutes: Handlers<LogIds, InsightContext> = {
  async listLogs({ actor, query, signal }, { db, logStore }) {
    const { limit, direction } = query
    const filter = filterOf(db, actor, query)
    return toWirePage(await logStore.query({ ...filter, signal, ...(limit && { limit }), ...(direction && { direction }) }))
  },
  listLogValues: ({ actor, query }, { db, logStore }) => logStore.values(query.label, filterOf(db, actor, query)),
  subscribeLogs({ actor, query, upgrade, requireRight }, { db, logHub }) {
    const filter = filterOf(db, actor, query)
    const endReason = () =>
      actor.scope !== undefined && isAnyOwnerOutside(db, requireRight(), filter.resource)
        ? 'A service or database was moved out of what you may touch; connect again for the others'
        : undefined
    const release = logHub.takeSubscription(actor)
    try {
      upgrade({ ...followLogs(logHub, filter, release), endReason })
    } catch (error) {
      release()
      throw error
    }
  },
}

/** Confines a query to the services and databases of the caller's workspace and scope. */
function filterOf(db: InsightContext['db'], actor: Actor, query: LogSubscribeQuery): LogFilter & { resource: readonly string[] } {
  const { resource, instance, level, type, host, method, statusCode, path, text, startTime, endTime } = query
  for (const id of resource ?? []) {
    requireOwner({ db }, actor, id)
  }
  const startAt = microseconds('startTime', startTime)
  const endAt = microseconds('endTime', endTime)
  return {
    resource: isOfNoLine(query) ? [] : (resource ?? ownerIdsOf(db, actor)),
    ...(instance && { instance }),
    ...(level && { level }),
    ...(type && { type }),
    ...(host && { host }),
    ...(method && { method }),
    ...(statusCode && { statusCode }),
    ...(path && { path }),
    ...(text && { text }),
    ...(startAt !== undefined && { startAt }),
    ...(endAt !== undefined && { endAt }),
  }
}
/** Render has labels that we do not: no line carries them. */
const isOfNoLine = ({ task, taskRun, sandbox }: LogSubscribeQuery): boolean =>
  task !== undefined || taskRun !== undefined || sandbox !== undefined

function microseconds(name: string, time: string | undefined): number | undefined {
  if (time === undefined) return undefined
  const at = parseLogTime(time)
  if (at === undefined) {
    throw new AppError('validation_failed', `${name} is not a time that exists.`, {
      details: [{ path: `/${name}`, message: 'is not a time that exists' }],
    })
  }
  return at
}
