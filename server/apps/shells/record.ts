import type { Actor } from '../../http/handlers/call.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { describeError } from '../../platform/server-log.ts'
import { deleteWorkload, insertWorkload, workloadsFor } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { forgetOldEvents, recordEvent } from '../events/store.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { SHELL } from '../workloads/shell-store.ts'
import type { ShellEnd } from './session.ts'

/** What is typed into a shell, its command included, may hold secrets and is recorded nowhere. */
export interface RecordedShell {
  shellId: string
  service: StoredService
  actor: Pick<Actor, 'type' | 'id' | 'name'>
  instanceId: string | undefined
}

/** Belongs in the change that opens it: a shell has a row for as long as it is open. */
export function recordOpened(context: Pick<AppContext, 'db' | 'now'>, shell: RecordedShell): void {
  const { shellId: id, service } = shell
  const [now, details] = [context.now(), detailsOf(shell)]
  insertWorkload(context.db, { ...SHELL, id, ownerId: service.id, spec: details, phase: 'running', startedAt: now, createdAt: now })
  recordEvent(context.db, { owner: service, type: 'shell_opened', details, now })
}

const KEPT_EVENTS = 10_000

export function recordClosed(context: AppContext, shell: RecordedShell, { end, openedAt }: { end: ShellEnd; openedAt: number }): void {
  try {
    const details = { ...detailsOf(shell), ...end, seconds: Math.round((context.now() - openedAt) / 1000) }
    endRow(context, { id: shell.shellId, serviceId: shell.service.id, details })
  } catch (error) {
    context.log.error('end of a shell not written down', { shellId: shell.shellId, ...describeError(error) })
  }
}

/** Shells end with their control plane, so what an earlier one left open is over at the next start. This one answers by then, and may have opened some. */
export function recordLost(context: Pick<AppContext, 'db' | 'now' | 'shells'>): void {
  for (const { id, ownerId: serviceId, spec } of workloadsFor(context.db, SHELL.purpose))
    if (!context.shells.has(id)) endRow(context, { id, serviceId, details: { ...spec, reason: 'The control plane ended' } })
}

interface EndedShell {
  id: string
  serviceId: string
  details: Record<string, unknown>
}

function endRow({ db, now }: Pick<AppContext, 'db' | 'now'>, { id, serviceId, details }: EndedShell): void {
  inOneChange(db, () => {
    deleteWorkload(db, id)
    const service = serviceById(db, serviceId)
    if (service === undefined) return
    recordEvent(db, { owner: service, type: 'shell_closed', details, now: now() })
    forgetOldEvents(db, { serviceId, types: ['shell_opened', 'shell_closed'], count: KEPT_EVENTS })
  })
}

const detailsOf = ({ shellId, actor, instanceId }: RecordedShell) => ({
  shellId,
  actor: { type: actor.type, id: actor.id, name: actor.name },
  instanceId: instanceId ?? null,
})
