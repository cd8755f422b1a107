import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import { createService, deployApp, deployEnd, packApp, upload } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_HEALTH_TIMEOUT_SECONDS: '5', CP_BUILD_CONCURRENCY: '4' })
})
afterAll(() => platform.close())

const visit = (name: string) => platform.ingress.visit(`${name}.localhost`)

test('an app without dependencies goes live and answers at its host name', async () => {
  const id = await createService(platform, { name: 'hello' })
  const { deploy } = await deployApp(platform, id, await packApp('hello-js'))
  expect(deploy).toMatchObject({ status: 'live', trigger: 'api' })
  expect(await visit('hello')).toEqual({ status: 200, text: 'hello-js 1\n' })
})

test('a static site is published, replaced and gone with its service', async () => {
  const id = await createService(platform, { name: 'site', type: 'static_site' })
  await deployApp(platform, id, await packApp('static-plain', { 'index.html': 'one' }))
  expect((await visit('site')).text).toBe('one')
  await deployApp(platform, id, await packApp('static-plain', { 'index.html': 'two' }))
  expect((await visit('site')).text).toBe('two')
  await call(`${platform.url}/v1/services/${id}`, { method: 'DELETE', token: platform.adminToken })
  await until('the site is gone', async () => (await visit('site')).status === 404)
})

interface Failing {
  fact: string
  name: string
  app: string
  changes?: Record<string, string>
  details?: Record<string, unknown>
  status: string
  reason: RegExp
  type?: string
}

const failing: Failing[] = [
  {
    fact: 'a build that fails',
    name: 'bad-build',
    app: 'build-fails',
    status: 'build_failed',
    reason: /^Build failed: .* exited with 3; see the build log$/,
  },
  {
    fact: 'a source that cannot be recognized',
    name: 'no-app',
    app: 'hello-js',
    changes: { 'package.json': 'not JSON' },
    status: 'build_failed',
    reason: /package\.json/,
  },
  {
    fact: 'a pre-deploy command that fails',
    name: 'bad-migration',
    app: 'pre-deploy-fails',
    details: { preDeployCommand: 'sh migrate.sh' },
    status: 'pre_deploy_failed',
    reason: /^The pre-deploy command exited with 4; see the build log\. It last said: \S/,
  },
  {
    fact: 'a release that crashes',
    name: 'crashes',
    app: 'crashes',
    status: 'update_failed',
    reason: /^It exited with code 1 before it was healthy, 3 times\. See its logs\. It last said: .*[^ ]$/,
  },
  {
    fact: 'a release that answers its health check with an error',
    name: 'unhealthy',
    app: 'never-healthy',
    details: { healthCheckPath: '/health' },
    status: 'update_failed',
    reason: /^It did not become healthy within 5 s\. /,
  },
]

describe.each(failing)('$fact', ({ name, app, changes = {}, details = {}, status, reason }) => {
  let id = ''
  let liveDeployId = ''
  let deploy: Deploy
  beforeAll(async () => {
    id = await createService(platform, { name })
    liveDeployId = (await deployApp(platform, id, await packApp('hello-js', { VERSION: 'old' }))).deploy.id
    await call(`${platform.url}/v1/services/${id}`, { method: 'PATCH', json: { serviceDetails: details }, token: platform.adminToken })
    const uploaded = await upload(platform, id, await packApp(app, changes))
    deploy = await deployEnd(platform, id, uploaded.body.deployId)
  })

  test('ends as such, with its reason', () => {
    expect(deploy.status).toBe(status)
    expect(deploy.reason).toMatch(reason)
  })
  test('leaves the old release serving', async () => {
    expect(await visit(name)).toEqual({ status: 200, text: 'hello-js old\n' })
    const { body } = await call(`${platform.url}/v1/services/${id}/deploys/${liveDeployId}`, { token: platform.adminToken })
    expect(body.status).toBe('live')
  })
  test('leaves one instance, one release and no build behind', async () => {
    const own = servicePathsOf(platform.context.paths, id)
    await until('the failed release is gone', () => readdirSync(own.releases).length === 1 && readdirSync(own.builds).length === 0)
    const { body } = await call<{ status: string }[]>(`${platform.url}/v1/services/${id}/instances`, { token: platform.adminToken })
    expect(body.map((instance) => instance.status)).toEqual(['running'])
    expect(readdirSync(own.secrets)).toHaveLength(1)
  })
  test('is told in the events and in the build log', async () => {
    const events = await call<{ event: { type: string; details: Record<string, unknown> } }[]>(
      `${platform.url}/v1/services/${id}/events?type=deploy_ended`,
      { token: platform.adminToken },
    )
    expect(events.body[0]?.event.details).toMatchObject({ deployId: deploy.id, status })
    const logs = await call<{ logs: { message: string }[] }>(`${platform.url}/v1/logs?resource=${id}&type=build,platform&limit=100`, {
      token: platform.adminToken,
    })
    expect(logs.body.logs.map(({ message }) => message).join('\n')).toContain(`Failed (${status}). ${deploy.reason}`)
  })
})
