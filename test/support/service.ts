import type { Deploy } from '../../shared/deploy.ts'
import { type Event, eventTypes } from '../../shared/event.ts'
import type { Instance, Service } from '../../shared/service.ts'
import { createService, deployEnd, packApp, upload } from './apps.ts'
import { call, type Reply } from './client.ts'
import type { TestServer } from './server.ts'
import { until } from './until.ts'

/** One service of a running platform, spoken to through the API. */
export interface TestService {
  id: string
  name: string
  /** A call below the service's own path. */
  ask<T = Record<string, unknown>>(path: string, options?: { method?: string; json?: unknown }): Promise<Reply<T>>
  /** Uploads a sample app and gives the id of its deploy. */
  upload(app: string, changes?: Record<string, string>): Promise<string>
  deploy(id: string): Promise<Deploy>
  /** Waits until a deploy has this status. */
  reaches(deployId: string, status: Deploy['status']): Promise<Deploy>
  ends(deployId: string): Promise<Deploy>
  /** Uploads and waits until it is live. */
  goLive(app: string, changes?: Record<string, string>): Promise<Deploy>
  instances(): Promise<Instance[]>
  /** Waits until these are the statuses of its instances. */
  settles(...statuses: Instance['status'][]): Promise<Instance[]>
  /** Types and details of its events, oldest first. */
  events(): Promise<Pick<Event, 'type' | 'details'>[]>
}

/** Query of a list of events of whatever type, clients of Render's API know it or not. */
export const everyEvent = `limit=100&type=${eventTypes.join()}`

type Server = Pick<TestServer, 'url' | 'adminToken'>

export async function makeService(server: Server, body: { name: string } & Record<string, unknown>): Promise<TestService> {
  return serviceOf(server, { id: await createService(server, body), name: body.name })
}

/** A service that is there already. */
export function serviceOf(server: Server, { id, name }: Pick<Service, 'id' | 'name'>): TestService {
  const token = server.adminToken
  const ask: TestService['ask'] = (path, options = {}) => call(`${server.url}/v1/services/${id}${path}`, { ...options, token })
  const service: TestService = {
    id,
    name,
    ask,
    upload: async (app, changes) => {
      const reply = await upload(server, id, await packApp(app, changes))
      if (reply.status !== 201) throw new Error(`Not uploaded: ${JSON.stringify(reply.body)}`)
      return reply.body.deployId
    },
    deploy: async (deployId) => (await ask<Deploy>(`/deploys/${deployId}`)).body,
    reaches: (deployId, status) =>
      until(`deploy ${deployId} is ${status}`, async () => {
        const deploy = await service.deploy(deployId)
        if (deploy.status !== status && deploy.finishedAt !== undefined) throw new Error(`It ended ${deploy.status}: ${deploy.reason}`)
        return deploy.status === status && deploy
      }),
    ends: (deployId) => deployEnd(server, id, deployId),
    goLive: async (app, changes) => {
      const deployId = await service.upload(app, changes)
      await service.ends(deployId)
      return await service.reaches(deployId, 'live')
    },
    instances: async () => (await ask<Instance[]>('/instances')).body,
    settles: (...statuses) =>
      until(`instances are ${statuses.join(', ') || 'gone'}`, async () => {
        const instances = await service.instances()
        return instances.map(({ status }) => status).join() === statuses.join() && instances
      }),
    events: async () => {
      const { body } = await ask<{ event: Event }[]>(`/events?${everyEvent}`)
      return body.map(({ event: { type, details } }) => ({ type, details })).reverse()
    },
  }
  return service
}
