import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService } from '../../../support/apps.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type Developer, newDeveloper } from '../../../support/git.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

const HOST = 'paas.apps.acme.com'

let platform: Platform
let developer: Developer
beforeAll(async () => {
  platform = await startPlatform({
    CP_LISTEN: `127.0.0.1:${freePorts(1)[0]}`,
    CP_PUBLIC_URL: `https://${HOST}`,
    CP_BASE_DOMAIN: 'apps.acme.com',
  })
  developer = newDeveloper()
  await until('the API is routed', async () => (await platform.ingress.visit(HOST, '/api/health')).status !== 404)
})
afterAll(async () => {
  developer.leave()
  await platform.close()
})

test('pushes and clones pass through the ingress at the host of the public URL, in pieces and without their length', async () => {
  await createService(platform, { name: 'site', type: 'static_site', serviceDetails: { publishPath: '.' } })
  const [, port = ''] = platform.ingress.address.split(':')
  const address = `http://${HOST}:${port}/git/${await defaultWorkspaceId(platform)}/site.git`
  const noise = randomBytes(3_000_000).toString('base64')
  const dir = await developer.begin('site', { 'index.html': 'first', noise })
  const run = (...args: string[]) =>
    developer.runWith(platform.adminToken, dir, '-c', `http.curloptResolve=${HOST}:${port}:127.0.0.1`, ...args)
  const pushed = await run('push', address, 'main')
  expect(pushed).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/remote: site is live: http:/) })
  expect(await run('clone', '-q', address, 'cloned')).toMatchObject({ exitCode: 0 })
  expect((await developer.run(dir, '-C', 'cloned', 'show', 'HEAD:noise')).stdout).toBe(noise)
})
