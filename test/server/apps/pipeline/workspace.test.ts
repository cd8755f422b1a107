import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { jobEnd, linesOf, runJob } from '../jobs/job-steps.ts'

const TIMEOUT_MS = 300_000

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

const json = JSON.stringify
const ownDependency = { dependencies: { greeting: '*' } }

/** Everything it needs is in it, so no registry is asked. */
const monorepo = {
  'package.json': json({ private: true, workspaces: ['apps/*', 'packages/*'] }),
  'packages/greeting/package.json': json({ name: 'greeting', version: '1.0.0', main: 'index.js' }),
  'packages/greeting/index.js': "exports.greeting = 'hello from the workspace'",
  'apps/web/package.json': json({ name: 'web', ...ownDependency, scripts: { build: 'node build.js', start: 'node server.js' } }),
  'apps/web/build.js': "require('node:fs').writeFileSync('built.txt', require('greeting').greeting)",
  'apps/web/server.js': `require('node:http')
    .createServer((_, response) => response.end([process.cwd(), require('node:fs').readFileSync('built.txt', 'utf8'), require('greeting').greeting].join()))
    .listen(process.env.PORT)`,
}

test.each(['node', 'bun'])(
  'a member of a workspace is built, run and worked on in its own folder, with what is hoisted (%s)',
  async (runtime) => {
    const name = `member-${runtime}`
    const service = await makeService(platform, {
      name,
      rootDir: 'apps/web',
      serviceDetails: { runtime, preDeployCommand: 'test -e built.txt' },
    })
    await service.goLive('hello-js', monorepo)
    const { text } = await platform.ingress.visit(`${name}.localhost`, '/')
    expect(text).toMatch(/\/apps\/web,hello from the workspace,hello from the workspace$/)
    const job = await jobEnd(service, await runJob(service, 'cat built.txt'))
    expect(job.status).toBe('succeeded')
    await until('its output is stored', async () => (await linesOf(platform, service, job.id)).includes('hello from the workspace'))
  },
  TIMEOUT_MS,
)
