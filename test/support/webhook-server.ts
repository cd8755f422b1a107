import { setImmediate } from 'node:timers/promises'
import { recordEvent } from '../../server/apps/events/store.ts'
import { onEvents } from '../../server/apps/events/wake.ts'
import { createWebhookWork, type WebhookWork } from '../../server/apps/webhooks/dispatch/work.ts'
import { createTestClock, type TestClock } from '../../server/engines/fake/clock.ts'
import type { Lookup } from '../../server/platform/outgoing/resolve.ts'
import type { EventType } from '../../shared/event.ts'
import type { Webhook, WebhookEvent, WebhookWithSecret } from '../../shared/webhook.ts'
import { type CallOptions, call, type Reply } from './client.ts'
import { idleWork } from './idle-parts.ts'
import { defaultWorkspaceId } from './members.ts'
import { startTestServer, type TestServer } from './server.ts'

/** A server that sends webhooks, and nothing else, on a clock of its own. */
export interface WebhookServer {
  server: TestServer
  clock: TestClock
  workspaceId: string
  api<T = Record<string, unknown>>(path: string, options?: CallOptions): Promise<Reply<T>>
  create(settings: Record<string, unknown>): Promise<WebhookWithSecret>
  webhook(id: string): Promise<Webhook>
  /** Attempts of a webhook, newest first. */
  attempts(id: string): Promise<WebhookEvent[]>
  /** Records an event, and gives its id. */
  happen(type: EventType, what?: { serviceId?: string; details?: Record<string, unknown> }): string
  /** Waits until nothing is under way, and nothing is to be sent at this time. */
  settled(): Promise<void>
  /** Ends the sending at once, as a kill would, and begins anew on the same database. */
  killSending(): void
  close(): Promise<void>
}

export async function startWebhookServer({
  lookup,
  env = {},
}: {
  lookup?: Lookup
  env?: Record<string, string>
} = {}): Promise<WebhookServer> {
  let sending: { work: WebhookWork; end: AbortController; deafen: () => void }
  const clock = createTestClock({ settled: () => settled() })
  const server = await startTestServer({
    env: { CP_OUTGOING_ALLOW: '127.0.0.0/8', ...env },
    parts: {
      now: clock.now,
      after: clock.after,
      ...(lookup && { lookup }),
      work: { ...idleWork, poke: (kind, id = '') => kind === 'webhooks' && sending.work.poke(id) },
    },
  })
  const { db, context } = server
  const token = server.adminToken
  const workspaceId = await defaultWorkspaceId(server)
  const api = <T>(path: string, options: CallOptions = {}) => call<T>(`${server.url}/v1${path}`, { token, ...options })

  function startSending(): void {
    const end = new AbortController()
    const work = createWebhookWork({ ...context, stopping: end.signal })
    sending = { work, end, deafen: onEvents(db, work.poke) }
    work.pokeAll()
  }

  const isIdle = () =>
    db
      .query(
        `SELECT 1 FROM webhook_queue WHERE attempts = 0 OR next_attempt_at <= $now
         UNION ALL SELECT 1 FROM webhook_replays
         UNION ALL SELECT 1 FROM webhooks WHERE is_enabled = 1 AND cursor_seq <
           (SELECT max(seq) FROM events WHERE events.workspace_id = webhooks.workspace_id)`,
      )
      .get({ now: clock.now() }) === null

  async function settled(): Promise<void> {
    do {
      await setImmediate()
      await sending.work.settled()
    } while (!isIdle())
  }

  startSending()
  return {
    server,
    clock,
    workspaceId,
    api,
    async create(settings) {
      const { status, body } = await api<WebhookWithSecret>('/webhooks', { json: { name: 'hook', ...settings } })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body
    },
    webhook: async (id) => (await api<Webhook>(`/webhooks/${id}`)).body,
    attempts: async (id) =>
      (await api<{ webhookEvent: WebhookEvent }[]>(`/webhooks/${id}/events?limit=100`)).body.map(({ webhookEvent }) => webhookEvent),
    happen(type, { serviceId, details = {} } = {}) {
      recordEvent(db, { owner: { workspaceId, ...(serviceId && { id: serviceId }) }, type, details, now: clock.now() })
      return db.query<{ id: string }, []>('SELECT id FROM events ORDER BY seq DESC LIMIT 1').get()?.id ?? ''
    },
    settled,
    killSending() {
      sending.end.abort(new Error('killed'))
      sending.deafen()
      startSending()
    },
    async close() {
      sending.end.abort(new Error('closed'))
      sending.deafen()
      await sending.work.settled()
      await server.close()
    },
  }
}
