import type { Context } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import type { Actor } from '../http/call.ts'
import { describeError } from '../server-log.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import type { ShellEnd } from './session.ts'

/** A shell, as its events tell of it. What is typed into it, its command included, may hold secrets and is written down nowhere. */
export interface RecordedShell {
  shellId: string
  service: StoredService
  actor: Pick<Actor, 'type' | 'id' | 'name'>
  /** The instance whose surroundings it shares; undefined where it has its own. */
  instanceId: string | undefined
}

export function recordOpened({ db, now }: Context, shell: RecordedShell): void {
  recordEvent(db, { service: shell.service, type: 'shell_opened', details: detailsOf(shell), now: now() })
}

/** Writes down how it ended, unless the service is gone by then, and its events with it. */
export function recordClosed(context: Context, shell: RecordedShell, { end, openedAt }: { end: ShellEnd; openedAt: number }): void {
  try {
    const { db, now } = context
    if (serviceById(db, shell.service.id) === undefined) return
    const details = { ...detailsOf(shell), ...end, seconds: Math.round((now() - openedAt) / 1000) }
    recordEvent(db, { service: shell.service, type: 'shell_closed', details, now: now() })
  } catch (error) {
    context.log.error('end of a shell not written down', { shellId: shell.shellId, ...describeError(error) })
  }
}

const detailsOf = ({ shellId, actor, instanceId }: RecordedShell) => ({
  shellId,
  actor: { type: actor.type, id: actor.id, name: actor.name },
  instanceId: instanceId ?? null,
})
