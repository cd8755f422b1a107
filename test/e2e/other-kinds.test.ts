import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Event } from '../../shared/event.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, instancesOf, newestDeploy, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { everyEvent } from '../support/service.ts'
import { until } from '../support/until.ts'

let cpd: Compiled
const apps: AppFolder[] = []
beforeAll(async () => {
  cpd = await startCompiled()
})
afterAll(async () => {
  for (const app of apps) app.remove()
  await cpd.stop()
})

function folder(name: string): AppFolder {
  const app = copyApp(name)
  apps.push(app)
  return app
}

const logsOf = (name: string, ...options: string[]) => cpctl(cpd, 'logs', name, '--type', 'app', '--since', '1h', ...options)
const eventsOf = async (id: string): Promise<Event[]> =>
  (await cpd.api<{ event: Event }[]>(`/services/${id}/events?${everyEvent}`)).body.map(({ event }) => event)

test('a worker is deployed, logs, is restarted with SIGTERM to the old instance, and scaled, without an address', async () => {
  const app = folder('worker')
  expect(await deployFolder(cpd, app.dir, ['--type', 'background_worker'])).toContain('worker is live after')
  const service = await serviceNamed(cpd, 'worker')
  expect(service.serviceDetails.url).toBeUndefined()
  const [before] = await settledInstances(cpd, service.id, 1)
  await until('it counts', async () => (await logsOf('worker')).includes('worker 1 3'))
  expect((await cpd.appFetch('worker')).status).toBe(404)

  await cpctl(cpd, 'services', 'restart', 'worker')
  await until('another instance runs', async () => {
    const instances = await instancesOf(cpd, service.id)
    return instances.length === 1 && instances[0]?.status === 'running' && instances[0].id !== before?.id
  })
  expect(await logsOf('worker', '--instance', before?.id ?? '')).toMatch(/worker 1 stopped at \d+/)
  await cpctl(cpd, 'services', 'scale', 'worker', '2')
  await settledInstances(cpd, service.id, 2)
  app.setVersion('2')
  await deployFolder(cpd, app.dir)
  await until('the new version counts', async () => (await logsOf('worker')).includes('worker 2 1'))
})

test('a worker that dies at its start fails its deploy, and what was live goes on', async () => {
  const app = folder('worker')
  await deployFolder(cpd, app.dir, ['--service', 'steady', '--type', 'background_worker'])
  const { id } = await serviceNamed(cpd, 'steady')
  app.write('worker.js', "console.error('cannot go on'); process.exit(1)")
  const { exitCode, stderr } = await cpd.cpctl(['deploy', app.dir, '--service', 'steady', '--no-guard'])
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('It exited with code 1 before it was healthy'),
  })
  expect((await newestDeploy(cpd, id)).status).toBe('update_failed')
  await settledInstances(cpd, id, 1)
})

test('a worker that keeps dying after it was healthy is shown as crash-looping, never as running well', async () => {
  const app = folder('worker')
  // Healthy for its first two seconds, the first time; from then on it dies at once.
  app.write(
    'worker.js',
    `const { existsSync, writeFileSync } = require('node:fs')
     const mark = process.env.HOME + '/died'
     setTimeout(() => { writeFileSync(mark, ''); process.exit(4) }, existsSync(mark) ? 0 : 2000)`,
  )
  await deployFolder(cpd, app.dir, ['--service', 'dying', '--type', 'background_worker'])
  const { id } = await serviceNamed(cpd, 'dying')
  await until('it is crash-looping', async () => (await instancesOf(cpd, id))[0]?.status === 'crash_looping', 60_000)
  expect(await cpctl(cpd, 'services', 'instances', 'dying')).toContain('crash_looping')
  const failures = (await eventsOf(id)).filter(({ type }) => type === 'server_failed')
  expect(failures.length).toBeGreaterThanOrEqual(5)
  expect(failures[0]?.details).toMatchObject({ exitCode: 4, reason: 'It exited with code 4' })
  expect(await logsOf('dying')).toContain('==> It exited with code 4. Next start in')
})

test('a private service is deployed, healthy when it listens, logs, and is restarted, and the ingress leads nobody to it', async () => {
  const app = folder('hello-js')
  expect(await deployFolder(cpd, app.dir, ['--service', 'internal', '--type', 'private_service'])).toMatch(
    /internal is live at internal:\d+ after/,
  )
  const { id, slug } = await serviceNamed(cpd, 'internal')
  const [before] = await settledInstances(cpd, id, 1)
  expect((await cpd.appFetch(slug)).status).toBe(404)
  await cpctl(cpd, 'services', 'restart', 'internal')
  await until('another instance runs', async () => {
    const instances = await instancesOf(cpd, id)
    return instances.length === 1 && instances[0]?.status === 'running' && instances[0].id !== before?.id
  })
  app.write('server.js', "console.log('not listening'); setInterval(() => {}, 1000)")
  const failed = cpd.cpctl(['deploy', app.dir, '--service', 'internal', '--no-guard', '--detach'])
  expect((await failed).exitCode).toBe(0)
  await until('it says that it does not listen', async () => (await logsOf('internal')).includes('not listening'))
  expect((await newestDeploy(cpd, id)).status).toBe('update_in_progress')
  await cpctl(cpd, 'deploys', 'cancel', (await newestDeploy(cpd, id)).id)
  await settledInstances(cpd, id, 1)
})
