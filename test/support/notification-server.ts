import { setImmediate } from 'node:timers/promises'
import { recordEvent } from '../../server/apps/events/store.ts'
import { onEvents } from '../../server/apps/events/wake.ts'
import { createNotificationWork, type NotificationWork } from '../../server/apps/notifications/work.ts'
import { createTestClock, type TestClock } from '../../server/engines/fake/clock.ts'
import type { Lookup } from '../../server/platform/outgoing/resolve.ts'
import type { EventType } from '../../shared/event.ts'
import { type CallOptions, call, type Reply } from './client.ts'
import { type Mailbox, startMailbox } from './mailbox.ts'
import { defaultWorkspaceId } from './members.ts'
import { startTestServer, type TestServer } from './server.ts'

/** A server that tells people what fails, and does nothing else, on a clock of its own, with a mail server that takes what it sends. */
export interface NotificationServer {
  server: TestServer
  clock: TestClock
  workspaceId: string
  mailbox: Mailbox
  api<T = Record<string, unknown>>(path: string, options?: CallOptions): Promise<Reply<T>>
  set(settings: Record<string, unknown>): Promise<Reply>
  happen(type: EventType, serviceId: string, details?: Record<string, unknown>): void
  /** Lets time pass, and waits until all that is due by then is done. */
  pass(ms: number): Promise<void>
  /** Ends the telling at once, as a kill would, and begins anew on the same database. */
  kill(): void
  close(): Promise<void>
}

interface Options {
  lookup?: Lookup
  env?: Record<string, string>
}

export async function startNotificationServer({ lookup, env = {} }: Options = {}): Promise<NotificationServer> {
  let telling: { work: NotificationWork; end: AbortController; deafen: () => void }
  const mailbox = await startMailbox()
  const clock = createTestClock({ settled: () => settled() })
  const server = await startTestServer({
    env: { CP_OUTGOING_ALLOW: '127.0.0.0/8', ...mailbox.env, ...env },
    parts: { now: clock.now, after: clock.after, ...(lookup && { lookup }) },
  })
  const { db, context } = server
  const workspaceId = await defaultWorkspaceId(server)
  const api = <T>(path: string, options: CallOptions = {}) => call<T>(`${server.url}/v1${path}`, { token: server.adminToken, ...options })

  function startTelling(): void {
    const end = new AbortController()
    const work = createNotificationWork({ ...context, stopping: end.signal })
    telling = { work, end, deafen: onEvents(db, work.poke) }
    work.pokeAll()
  }

  async function settled(): Promise<void> {
    await setImmediate()
    await telling.work.settled()
  }

  startTelling()
  return {
    ...{ server, clock, workspaceId, mailbox, api },
    set: (settings) => api(`/notification-settings/owners/${workspaceId}`, { method: 'PATCH', json: settings }),
    happen: (type, id, details = {}) => recordEvent(db, { owner: { id, workspaceId }, type, details, now: clock.now() }),
    async pass(ms) {
      await clock.advance(ms)
      await settled()
    },
    kill() {
      telling.end.abort(new Error('killed'))
      telling.deafen()
      startTelling()
    },
    async close() {
      telling.end.abort(new Error('closed'))
      telling.deafen()
      await telling.work.settled()
      await server.close()
      await mailbox.close()
    },
  }
}
