import type { Actor } from '../../http/handlers/call.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import { forgetOldEvents, recordEvent } from '../events/store.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import type { ShellEnd } from './session.ts'

/** What is typed into a shell, its command included, may hold secrets and is recorded nowhere. */
export interface RecordedShell {
  shellId: string
  service: StoredService
  actor: Pick<Actor, 'type' | 'id' | 'name'>
  instanceId: string | undefined
}

export function recordOpened({ db, now }: AppContext, shell: RecordedShell): void {
  recordEvent(db, { owner: shell.service, type: 'shell_opened', details: detailsOf(shell), now: now() })
}

const KEPT_EVENTS = 10_000

export function recordClosed(context: AppContext, shell: RecordedShell, { end, openedAt }: { end: ShellEnd; openedAt: number }): void {
  try {
    const { db, now } = context
    if (serviceById(db, shell.service.id) === undefined) return
    const details = { ...detailsOf(shell), ...end, seconds: Math.round((now() - openedAt) / 1000) }
    recordEvent(db, { owner: shell.service, type: 'shell_closed', details, now: now() })
    forgetOldEvents(db, { serviceId: shell.service.id, types: ['shell_opened', 'shell_closed'], count: KEPT_EVENTS })
  } catch (error) {
    context.log.error('end of a shell not written down', { shellId: shell.shellId, ...describeError(error) })
  }
}

/** Events among which an opening without an end is searched for at a start. */
const LOOKED_AT_EVENTS = 20_000

interface OpeningRow {
  id: string
  workspaceId: string
  details: string
}

/** Shells end with their control plane, so the ends that an earlier one did not record are recorded at the next start. */
export function recordLost({ db, now }: Pick<AppContext, 'db' | 'now'>): void {
  const rows = db
    .query<OpeningRow, [number]>(
      `WITH latest AS (SELECT * FROM events ORDER BY id DESC LIMIT ?)
       SELECT service_id AS id, workspace_id AS workspaceId, details FROM latest WHERE type = 'shell_opened' AND details ->> 'shellId'
       NOT IN (SELECT details ->> 'shellId' FROM latest WHERE type = 'shell_closed')`,
    )
    .all(LOOKED_AT_EVENTS)
  for (const { details, ...service } of rows) {
    const lost = { ...(JSON.parse(details) as Record<string, unknown>), reason: 'The control plane ended' }
    recordEvent(db, { owner: service, type: 'shell_closed', details: lost, now: now() })
  }
}

const detailsOf = ({ shellId, actor, instanceId }: RecordedShell) => ({
  shellId,
  actor: { type: actor.type, id: actor.id, name: actor.name },
  instanceId: instanceId ?? null,
})
