import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LogPage } from '../../../../shared/log.ts'
import { call } from '../../../support/client.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { jobEnd, linesOf, runJob } from '../jobs/job-steps.ts'

const TIMEOUT_MS = 300_000

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

const app = {
  'package.json': JSON.stringify({
    name: 'app',
    engines: { bun: '>=99' },
    scripts: { start: 'npm run serve -- told', serve: 'node server.js' },
    dependencies: { noisy: 'file:./noisy' },
  }),
  'noisy/package.json': JSON.stringify({ name: 'noisy', version: '1.0.0', scripts: { postinstall: 'node made.js' } }),
  'server.js': `require('node:http')
    .createServer((_, response) => response.end([process.argv[2], process.versions.bun].join()))
    .listen(process.env.PORT)`,
}

async function buildLog({ id }: TestService): Promise<string> {
  const { body } = await call<LogPage>(`${platform.url}/v1/logs?resource=${id}&type=build,platform&direction=forward&limit=100`, {
    token: platform.adminToken,
  })
  return body.logs.map(({ message }) => message).join('\n')
}

test('a service whose runtime is bun has Bun everywhere, and its log says what that means', { timeout: TIMEOUT_MS }, async () => {
  const service = await makeService(platform, { name: 'by-bun', serviceDetails: { runtime: 'bun', preDeployCommand: 'npx --version' } })
  await service.goLive('hello-js', app)
  expect((await platform.ingress.visit('by-bun.localhost', '/')).text).toBe(`told,${Bun.version}`)
  const job = await jobEnd(service, await runJob(service, 'node --version && npm -v && node -p "typeof Bun"'))
  expect(job.status).toBe('succeeded')
  await until('its output is stored', async () => (await linesOf(platform, service, job.id)).includes('object'))
  const log = await until('the log is whole', async () => {
    const text = await buildLog(service)
    return text.includes('Live.') && text
  })
  expect(log).toContain(`Runtime: Bun ${Bun.version} (part of cpd), also where the app asks for node, npm or npx.`)
  expect(log).toContain(`Warning: engines asks for Bun >=99, and gets Bun ${Bun.version}.`)
  expect(log).toContain('[postinstall]: node made.js')
  expect(log).toContain(`11.0.0-bun.${Bun.version}`)
})
