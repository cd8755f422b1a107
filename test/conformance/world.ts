import { createService, deployApp, deployEnd, packApp } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { addDatastore } from '../support/datastores.ts'
import { defaultWorkspaceId, makeKey, registerTenant, type Tenant } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { oauthEnv } from './oauth.ts'
import { startSourceHosts } from './source-hosts.ts'

/** A platform on which everything an operation can ask for exists: a service that was deployed twice, its settings, and a stranger. */
export interface World {
  platform: Platform
  stranger: Tenant
  workspaceId: string
  /** Live, with an earlier release to go back to. */
  serviceId: string
  deployId: string
  sourceId: string
  eventId: string
  /** Both suspended. */
  postgresId: string
  keyValueId: string
  /** A service of its own, never deployed. */
  makeService(changes?: Record<string, unknown>): Promise<string>
  /** A cron job of its own that has its first release, and runs once a year. */
  liveCronJob(): Promise<string>
  makeKey(): Promise<string>
  /** A project of its own, without environments. */
  makeProject(): Promise<string>
  /** An environment of a project of its own. */
  makeEnvironment(): Promise<string>
  /** Waits until nothing of the live service is on its way. */
  settled(): Promise<void>
  close(): Promise<void>
}

export async function makeWorld(): Promise<World> {
  // Beside the stranger's workspace this one has all places but one: a long build is not to hold up the next.
  const sourceHosts = startSourceHosts()
  const platform = await startPlatform({ ...oauthEnv, ...sourceHosts.env, CP_BUILD_CONCURRENCY: '4' })
  const stranger = await registerTenant(platform, 'stranger@example.com')
  const serviceId = await createService(platform, {
    name: 'live',
    envVars: [{ key: 'VERSION', value: '1' }],
    secretFiles: [{ name: 'token.txt', content: 'not for everybody' }],
    serviceDetails: { healthCheckPath: '/health' },
  })
  await deployApp(platform, serviceId, await packApp('hello-js'))
  const { deploy, sourceId } = await deployApp(platform, serviceId, await packApp('hello-js', { VERSION: '2\n' }))
  const get = <T>(path: string) => call<T>(platform.url + path, { token: platform.adminToken })
  const events = await get<{ event: { id: string } }[]>(`/v1/services/${serviceId}/events`)
  const workspaceId = await defaultWorkspaceId(platform)
  let count = 0
  const make = async (path: string, json: unknown): Promise<string> =>
    (await call<{ id: string }>(platform.url + path, { json, token: platform.adminToken })).body.id
  const makeProject = () => make('/v1/projects', { name: `project-${++count}` })
  return {
    platform,
    stranger,
    workspaceId,
    serviceId,
    deployId: deploy.id,
    sourceId,
    eventId: events.body[0]?.event.id ?? '',
    postgresId: addDatastore(platform, { workspaceId, isSuspended: true }),
    keyValueId: addDatastore(platform, { workspaceId, kind: 'key_value', isSuspended: true }),
    makeService: (changes = {}) => createService(platform, { name: `extra-${++count}`, ...changes }),
    async liveCronJob() {
      const details = { schedule: '@yearly', envSpecificDetails: { startCommand: 'sleep 1' } }
      const id = await createService(platform, { name: `cron-${++count}`, type: 'cron_job', serviceDetails: details })
      await deployApp(platform, id, await packApp('hello-js'))
      return id
    },
    makeProject,
    makeEnvironment: async () => make('/v1/environments', { name: 'staging', projectId: await makeProject() }),
    makeKey: async () => (await makeKey(platform, 'viewer')).id,
    async settled() {
      const deploys = await get<{ deploy: { id: string } }[]>(`/v1/services/${serviceId}/deploys`)
      for (const { deploy: one } of deploys.body) await deployEnd(platform, serviceId, one.id)
    },
    async close() {
      await platform.close()
      await sourceHosts.close()
    },
  }
}
