import { cpSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AppFolder, copyApp, fixtureDir } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, foldersOf, newestDeploy, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { startLoad } from '../support/load.ts'
import { until } from '../support/until.ts'

interface BadRelease {
  title: string
  /** The sample app whose files replace those of the one that works. */
  app: string
  args?: string[]
  /** Beside what is always set. */
  env?: Record<string, string>
  status: string
  reason: RegExp
}

const badReleases: BadRelease[] = [
  {
    title: 'a release that crashes',
    app: 'crashes',
    status: 'update_failed',
    reason: /^It exited with code 1 before it was healthy, 3 times\. See its logs\. It last said: /,
  },
  {
    title: 'a release that answers its health check with 500',
    app: 'never-healthy',
    args: ['--health-check-path', '/health'],
    env: { CP_HEALTH_TIMEOUT_SECONDS: '4' },
    status: 'update_failed',
    reason: /^It did not become healthy within 4 s\./,
  },
  {
    title: 'a release that never listens',
    app: 'never-healthy',
    args: ['--env', 'MODE=silent'],
    env: { CP_HEALTH_TIMEOUT_SECONDS: '4' },
    status: 'update_failed',
    reason: /^It did not become healthy within 4 s\./,
  },
  { title: 'a release whose build fails', app: 'build-fails', status: 'build_failed', reason: /exit(ed)?.*\b3\b/ },
  {
    title: 'a release whose pre-deploy command fails',
    app: 'pre-deploy-fails',
    args: ['--pre-deploy-command', 'sh migrate.sh'],
    status: 'pre_deploy_failed',
    reason: /^The pre-deploy command exited with 4; see the build log\. It last said: \S/,
  },
]

let cpd: Compiled
let folder: AppFolder

describe.each(badReleases)('$title', ({ app, args = [], env = {}, status, reason, title }) => {
  beforeAll(async () => {
    cpd = await startCompiled({ env })
    folder = copyApp('hello-js')
  })

  afterAll(async () => {
    folder.remove()
    await cpd.stop()
  })

  test(`ends as ${status} with its reason, and what was live serves all the time`, async () => {
    const name = title.replaceAll(' ', '-')
    await deployFolder(cpd, folder.dir, ['--service', name])
    const { id, slug } = await serviceNamed(cpd, name)
    const before = await settledInstances(cpd, id, 1)
    const releases = foldersOf(cpd, id).releases
    const load = startLoad({ port: cpd.ingressPort, host: `${slug}.localhost` })
    cpSync(fixtureDir(app), folder.dir, { recursive: true })

    const { exitCode, stderr } = await cpd.cpctl(['deploy', folder.dir, '--service', name, ...args])

    await load.answered(20)
    await load.stop()
    expect(load.failures()).toEqual([])
    expect(new Set(load.samples.map(({ body }) => body))).toEqual(new Set(['hello-js 1']))
    const deploy = await newestDeploy(cpd, id)
    expect(deploy.status).toBe(status)
    expect(deploy.reason).toMatch(reason)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(deploy.reason)
    expect(await settledInstances(cpd, id, 1)).toEqual(before)
    await until('only the live release is kept', () => foldersOf(cpd, id).releases.join() === releases.join())
    expect(foldersOf(cpd, id).builds).toEqual([])
    console.info(
      `bad release: ${title}: ${load.samples.length} requests, ${load.failures().length} failed; ${deploy.status}: ${deploy.reason}`,
    )
  })
})

describe('a first release that fails', () => {
  beforeAll(async () => {
    cpd = await startCompiled()
    folder = copyApp('hello-js')
  })

  afterAll(async () => {
    folder.remove()
    await cpd.stop()
  })

  test('leaves an address that says so, and the next good one serves', async () => {
    cpSync(fixtureDir('crashes'), folder.dir, { recursive: true })
    expect((await cpd.cpctl(['deploy', folder.dir, '--service', 'first'])).exitCode).toBe(1)
    expect((await cpd.appFetch('first')).status).toBe(503)
    cpSync(fixtureDir('hello-js'), folder.dir, { recursive: true })
    await deployFolder(cpd, folder.dir, ['--service', 'first'])
    expect(await (await cpd.appFetch('first')).text()).toBe('hello-js 1\n')
    expect(await cpctl(cpd, 'deploys', 'list', 'first')).toMatch(/live[\s\S]*update_failed/)
  })
})
