import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Deploy } from '../../shared/deploy.ts'
import { expectError } from '../conformance/expect-error.ts'
import { createService, packApp, upload } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { type FakePlatform, startFakePlatform } from '../support/fake-platform.ts'
import { registerTenant, type Tenant } from '../support/members.ts'
import { until } from '../support/until.ts'

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform({ CP_BUILD_CONCURRENCY: '2', CP_QUOTAS: 'deploys=2' })
})
afterAll(() => platform.close())

async function deploy(tenant: Tenant, name: string, buildCommand: string) {
  const as = { url: platform.url, adminToken: tenant.token }
  const serviceDetails = { runtime: 'node', envSpecificDetails: { buildCommand, startCommand: 'serve' } }
  const serviceId = await createService(as, { type: 'background_worker', name: `${name}-${tenant.workspaceId.slice(-6)}`, serviceDetails })
  return { serviceId, ...(await upload(as, serviceId, await packApp('hello-js'))) }
}

test('S32: builds of one workspace that never end leave a place for another, and no more of them wait than may', async () => {
  const greedy = await registerTenant(platform, 'greedy@example.com')
  const other = await registerTenant(platform, 'other@example.com')
  const statusOf = async ({ token }: Tenant, { serviceId, body }: Awaited<ReturnType<typeof deploy>>) =>
    (await call<Deploy>(`${platform.url}/v1/services/${serviceId}/deploys/${body.deployId}`, { token })).body.status

  const first = await deploy(greedy, 'one', 'serve')
  await until('its build runs', async () => (await statusOf(greedy, first)) === 'build_in_progress')
  const waiting = [await deploy(greedy, 'two', 'serve'), await deploy(greedy, 'three', 'serve')]
  expectError(await deploy(greedy, 'four', 'serve'), 'rate_limited')

  const theirs = await deploy(other, 'theirs', 'exit 0')
  await until('the other one is live', async () => (await statusOf(other, theirs)) === 'live', 60_000)
  expect(await Promise.all(waiting.map((one) => statusOf(greedy, one)))).toEqual(['queued', 'queued'])
})
