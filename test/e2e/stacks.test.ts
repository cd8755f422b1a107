import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import type { Event } from '../../shared/event.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, instancesOf, newestDeploy, serviceNamed } from '../support/compiled-steps.ts'
import { warmGoCache } from '../support/go-cache.ts'

interface Stack {
  app: string
  /** The file that holds the version. */
  file?: string
  runtime?: string
  args?: string[]
}

/** Each answers at `/` with its name and its version. */
const stacks: Stack[] = [
  { app: 'express', runtime: 'node' },
  // Clients know no bun, so it is told only where somebody has chosen it.
  { app: 'bun-server', runtime: 'node' },
  { app: 'flask', runtime: 'python' },
  { app: 'go-module', runtime: 'go' },
  { app: 'rust-crate', runtime: 'rust' },
  { app: 'vite-static', file: 'index.html', args: ['--type', 'static_site'] },
  { app: 'static-plain', file: 'index.html' },
]

let cpd: Compiled
const folders: AppFolder[] = []
const folderOf = (app: string): AppFolder => {
  const folder = copyApp(app)
  folders.push(folder)
  return folder
}

beforeAll(async () => {
  cpd = await startCompiled()
})

afterAll(async () => {
  for (const folder of folders) folder.remove()
  await cpd.stop()
})

describe.each(stacks)('$app', ({ app, file = 'VERSION', runtime, args = [] }) => {
  test('goes from its folder to a 200 through the ingress, and to its next version', async () => {
    if (runtime === 'go') await makeWithWarmCache(app)
    const folder = folderOf(app)
    const times: string[] = []
    for (const version of ['1', '2']) {
      folder.write(file, folder.read(file).replaceAll('1', version))
      const begun = performance.now()
      await deployFolder(cpd, folder.dir, args)
      const answer = await cpd.appFetch(app)
      const tookMs = performance.now() - begun
      expect(answer.status).toBe(200)
      expect(await answer.text()).toMatch(new RegExp(`${app} ${version}\\b`))
      times.push(await timesOf((await serviceNamed(cpd, app)).id, tookMs))
    }
    expect((await serviceNamed(cpd, app)).serviceDetails.runtime).toBe(runtime)
    console.info(`${app}: first ${times[0]}; again ${times[1]}`)
  }, 300_000)
})

/** A service that has built with Go before. */
async function makeWithWarmCache(name: string): Promise<void> {
  const json = { type: 'web_service', name, serviceDetails: { cutoverGuard: { enabled: false } } }
  const { body } = await cpd.api<{ service: { id: string } }>('/services', { json })
  await warmGoCache(join(servicePathsOf(cpd.paths, body.service.id).cache, 'go-build'))
}

/** How long the build of the newest deploy took, and everything else of the whole command until the first answer. */
async function timesOf(serviceId: string, tookMs: number): Promise<string> {
  const { body } = await cpd.api<{ event: Event }[]>(`/services/${serviceId}/events?limit=100`)
  const deploy = await newestDeploy(cpd, serviceId)
  const at = (type: Event['type']) => {
    const found = body.find(({ event }) => event.type === type && event.details.deployId === deploy.id)
    return Date.parse(found?.event.timestamp ?? '')
  }
  const buildMs = at('build_ended') - at('build_started')
  return `build ${buildMs} ms, everything else ${Math.round(tookMs - buildMs)} ms`
}

test('a worker has no address, and its lines are in its log', async () => {
  const folder = folderOf('worker')
  const output = await deployFolder(cpd, folder.dir, ['--type', 'background_worker'])
  expect(output).toContain('worker is live after')
  const { id } = await serviceNamed(cpd, 'worker')
  expect(await instancesOf(cpd, id)).toMatchObject([{ status: 'running' }])
  expect(await cpctl(cpd, 'logs', 'worker', '--type', 'app')).toMatch(/worker 1 \d+/)
  expect((await cpd.appFetch('worker')).status).toBe(404)
})

test('a static site answers with its own 404 page, ETags and compression', async () => {
  await deployFolder(cpd, folderOf('static-plain').dir, ['--service', 'site'])
  const page = await cpd.appFetch('site')
  const etag = page.headers.get('etag') ?? ''
  expect(etag).not.toBe('')
  expect((await cpd.appFetch('site', '/', { headers: { 'if-none-match': etag } })).status).toBe(304)
  const missing = await cpd.appFetch('site', '/nothing-here')
  expect(missing.status).toBe(404)
  expect(await missing.text()).toContain('static-plain: not found')
})
