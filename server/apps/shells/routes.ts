import { AppError } from '../../../shared/error.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import { requirePlace } from '../../identity/quotas/enforce.ts'
import { isRefusedNow, type Viewer } from '../../identity/scopes/protection.ts'
import { isWithin } from '../../identity/scopes/scope.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { newShellId } from '../../platform/id.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import { requireService } from '../services/require.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { beginTerminalJob, endTerminalJob, openJobTerminal } from './job.ts'
import { openShellTerminal } from './open.ts'
import { recordClosed, recordOpened } from './record.ts'
import { serveShell } from './session.ts'
import { shellTargetOf } from './target.ts'

type ShellIds = Extract<keyof Operations, 'openShell' | 'openJobTerminal'>

export function createShellRoutes(context: AppContext): Handlers<ShellIds, AppContext> {
  return {
    openShell({ actor, params, query, upgrade, requireRight }) {
      const service = requireService(context, actor, params.serviceId)
      const target = shellTargetOf(context, service, query.instance)
      const shell = { shellId: newShellId(service.id), service, actor, instanceId: target.instance?.id }
      const outside = Promise.withResolvers<string>()
      requirePlace(context, service.workspaceId, 'shells')
      const { id: serviceId, workspaceId } = service
      const leave = context.shells.take({ shellId: shell.shellId, serviceId, workspaceId, end: outside.resolve })
      const openedAt = context.now()
      try {
        inOneChange(context.db, () => {
          recordOpened(context, shell)
          upgrade(
            serveShell({
              outputWindow: query.outputWindow,
              open: (onOutput) => openShellTerminal(context, { shellId: shell.shellId, service, target, query, onOutput }),
              endReason: () => endReasonOf(context, requireRight(), service),
              mustEnd: outside.promise,
              explain: (error) => explain(context, error),
              onEnd(end) {
                leave()
                recordClosed(context, shell, { end, openedAt })
              },
            }),
          )
        })
      } catch (error) {
        leave()
        throw error
      }
    },

    openJobTerminal({ actor, params, query, upgrade, requireRight }) {
      const service = requireService(context, actor, params.serviceId)
      const outside = Promise.withResolvers<string>()
      requirePlace(context, service.workspaceId, 'shells')
      let leave = () => {}
      try {
        // The job, its entry in the audit log and its terminal come together or not at all.
        inOneChange(context.db, () => {
          const begun = beginTerminalJob(context, service, { ...query, by: actor.id })
          const { id } = begun.job
          leave = context.shells.take({ shellId: id, serviceId: service.id, workspaceId: service.workspaceId, end: outside.resolve })
          upgrade(
            serveShell({
              outputWindow: query.outputWindow,
              open: (onOutput) => openJobTerminal(context, service, begun, { query, onOutput }),
              endReason: () => endReasonOf(context, requireRight(), service),
              mustEnd: outside.promise,
              explain: (error) => explain(context, error),
              onEnd(end) {
                leave()
                endTerminalJob(context, service, id, end)
              },
            }),
          )
        })
      } catch (error) {
        leave()
        throw error
      }
    },
  }
}

function endReasonOf({ db }: AppContext, viewer: Viewer, { id }: StoredService): string | undefined {
  const service = serviceById(db, id)
  if (service === undefined || service.deletedAt !== null) return 'The service was deleted'
  if (service.suspendedAt !== null) return 'The service was suspended'
  if (!isWithin(viewer.scope, service)) return 'The service was moved out of what you may touch'
  return isRefusedNow(db, viewer, service.environmentId) ? 'The service is in a protected environment now' : undefined
}

function explain({ log }: AppContext, error: unknown): string {
  if (error instanceof AppError && error.code !== 'internal') return error.message
  log.error('shell not opened', describeError(error))
  return 'The shell could not be opened; the log of the server says why'
}
