import { recordEvent } from '../../server/apps/events/store.ts'
import type { OperationId } from '../../shared/operations/all.ts'
import { call } from '../support/client.ts'
import type { SuccessCase } from './cases.ts'
import type { World } from './world.ts'

/** A name that leads nowhere (RFC 6761): nothing leaves this machine. */
const url = 'https://hooks.invalid/'

/** The path of a webhook just made, for what does not happen here. */
async function madeWebhook({ platform }: World): Promise<string> {
  const json = { name: 'made', url, eventFilter: ['certificate_expiring'] }
  const { body } = await call<{ id: string }>(`${platform.url}/v1/webhooks`, { json, token: platform.adminToken })
  return `/v1/webhooks/${body.id}`
}

const send = (method: string, status: number, path: string, json?: unknown): SuccessCase => ({
  status,
  path,
  options: { method, ...(json === undefined ? {} : { json }) },
})

type Prepare = (world: World) => Promise<SuccessCase[]> | SuccessCase[]

export const webhookCases = {
  listWebhooks: async (world) => {
    await madeWebhook(world)
    return [send('GET', 200, `/v1/webhooks?ownerId=${world.workspaceId}&limit=100`)]
  },
  createWebhook: ({ serviceId, workspaceId }) => [
    // What Render's Terraform provider sends.
    send('POST', 201, '/v1/webhooks', { ownerId: workspaceId, name: 'all', url, enabled: false, eventFilter: null }),
    send('POST', 201, '/v1/webhooks', { name: 'some', url, eventFilter: ['deploy_ended'], serviceIds: [serviceId] }),
  ],
  getWebhook: async (world) => [send('GET', 200, await madeWebhook(world))],
  updateWebhook: async (world) => [
    send('PATCH', 200, await madeWebhook(world), { name: 'renamed', enabled: false, eventFilter: null, serviceIds: [world.serviceId] }),
  ],
  deleteWebhook: async (world) => [send('DELETE', 204, await madeWebhook(world))],
  listWebhookEvents: async (world) => {
    const path = await madeWebhook(world)
    await call(`${world.platform.url}${path}/test`, { method: 'POST', token: world.platform.adminToken })
    return [send('GET', 200, `${path}/events`), send('GET', 200, `${path}/events?sentAfter=2026-01-01T00:00:00Z&limit=1`)]
  },
  testWebhook: async (world) => [send('POST', 200, `${await madeWebhook(world)}/test`)],
  rotateWebhookSecret: async (world) => [send('POST', 200, `${await madeWebhook(world)}/rotate-secret`)],
  resendWebhookEvents: async (world) => {
    const { db } = world.platform
    recordEvent(db, { owner: { id: world.serviceId, workspaceId: world.workspaceId }, type: 'server_restarted', now: Date.now() })
    const path = `${await madeWebhook(world)}/resend`
    return [
      send('POST', 202, path, { eventId: world.eventId }),
      send('POST', 202, path, { from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z', onlyMissed: true }),
    ]
  },
} satisfies Partial<Record<OperationId, Prepare>>
