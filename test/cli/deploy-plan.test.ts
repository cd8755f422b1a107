import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DeployPlan } from '../../shared/deploy-plan.ts'
import type { Service } from '../../shared/service.ts'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, temporaryFolder } from './terminal.ts'

let server: FakeServer
let folder: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  folder = await temporaryFolder()
  await mkdir(join(folder.path, 'web'))
  await writeFile(join(folder.path, 'web/package.json'), '{}')
})
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
  await folder.remove()
})

function serving(plan: DeployPlan, existing: Service[] = []) {
  server = startFakeServer({
    listServices: () => pageOf('service', existing),
    planDeploy: async ({ request }) => {
      await request.bytes()
      return plan
    },
  })
  return (...argv: string[]) =>
    cpctl(['deploy', '--dry-run', ...argv], {
      cwd: join(folder.path, 'web'),
      env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test', NO_COLOR: '1' },
    })
}

test('what a deploy would do is told, and why, and nothing is done', async () => {
  const plan: DeployPlan = {
    type: 'web_service',
    runtime: 'node',
    packageManager: 'npm',
    rootDir: 'web',
    steps: [{ name: 'install', command: 'npm ci' }],
    preDeployCommand: 'npm run migrate',
    startCommand: 'npm start',
    publishPaths: [],
    notes: ['Packages come from npm (package-lock.json).\u001b[31m'],
  }
  const run = serving(plan, [exampleService({ name: 'web' })])
  const { exitCode, stdout } = await run('--start-command', 'npm start')
  expect(stdout).toBe(
    [
      `web (${serviceId}) is there, a web_service:`,
      '  runtime: node, with npm',
      '  folder: web',
      '  install: npm ci',
      '  pre-deploy: npm run migrate',
      '  start: npm start',
      'Why:',
      '  Packages come from npm (package-lock.json).',
      'Nothing was built or changed.',
      '',
    ].join('\n'),
  )
  expect(exitCode).toBe(0)
  expect(server.received.find(({ id }) => id === 'planDeploy')?.query).toEqual({
    ...{ serviceId, type: 'web_service', startCommand: 'npm start' },
  })
  expect(JSON.parse((await run('--json')).stdout)).toEqual(plan)
  expect(new Set(server.received.map(({ id }) => id))).toEqual(new Set(['listServices', 'planDeploy', 'getUploadLimits']))
})

test('a service that is not there would be made', async () => {
  const run = serving({ type: 'web_service', runtime: 'static', rootDir: '', steps: [], publishPaths: ['public', '.'], notes: [] })
  expect((await run('--service', 'new')).stdout).toBe(
    'new would be made, a web_service:\n  runtime: static\n  publish: public or .\nNothing was built or changed.\n',
  )
  expect((await run('--type', 'static_site', '--start-command', 'x')).exitCode).toBe(2)
})
