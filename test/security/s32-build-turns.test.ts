import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deploy } from '../../shared/deploy.ts'
import { expectError } from '../conformance/expect-error.ts'
import { createService, packApp, upload } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { registerTenant, type Tenant } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_BUILD_CONCURRENCY: '2', CP_QUOTAS: 'deploys=2' })
})
afterAll(() => platform.close())

async function deploy(tenant: Tenant, name: string, buildCommand: string) {
  const as = { url: platform.url, adminToken: tenant.token }
  const serviceDetails = { runtime: 'node', envSpecificDetails: { buildCommand } }
  const serviceId = await createService(as, { name: `${name}-${tenant.workspaceId.slice(-6)}`, serviceDetails })
  return { serviceId, ...(await upload(as, serviceId, await packApp('hello-js'))) }
}

test('S32: builds of one workspace that never end leave a place for another, and no more of them wait than may', async () => {
  const greedy = await registerTenant(platform, 'greedy@example.com')
  const other = await registerTenant(platform, 'other@example.com')
  const statusOf = async ({ token }: Tenant, { serviceId, body }: Awaited<ReturnType<typeof deploy>>) =>
    (await call<Deploy>(`${platform.url}/v1/services/${serviceId}/deploys/${body.deployId}`, { token })).body.status

  const first = await deploy(greedy, 'one', 'sleep 600')
  await until('its build runs', async () => (await statusOf(greedy, first)) === 'build_in_progress')
  const waiting = [await deploy(greedy, 'two', 'sleep 600'), await deploy(greedy, 'three', 'sleep 600')]
  expectError(await deploy(greedy, 'four', 'sleep 600'), 'rate_limited')

  const theirs = await deploy(other, 'theirs', 'true')
  await until('the other one is live', async () => (await statusOf(other, theirs)) === 'live', 60_000)
  expect(await Promise.all(waiting.map((one) => statusOf(greedy, one)))).toEqual(['queued', 'queued'])
})
