import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { createService, deployApp, deployEnd, packApp, upload } from '../support/apps.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { buildLogOf, HOSTILE_APP } from './hostile-tenant.ts'

const isRoot = process.getuid?.() === 0

let platform: Platform
/** A folder of the operator's that no tenant may enter. */
let operators: string
beforeAll(async () => {
  // Below /var/lib permissions alone stand between a service and the folders of its own that it is not shown.
  platform = await startPlatform({}, isRoot ? { parent: '/var/lib' } : {})
  operators = mkdtempSync(join(tmpdir(), 'operators-'))
})
afterAll(async () => {
  await platform.close()
  rmSync(operators, { recursive: true, force: true })
})

test('S25: a build that puts a link in the place of its rootDir has nothing removed where it leads', async () => {
  const repositories = ['.git', '.hg', '.svn'].map((name) => join(operators, 'repo', name))
  for (const repository of repositories) mkdirSync(repository, { recursive: true })
  for (const repository of repositories) writeFileSync(join(repository, 'keep'), 'precious')
  const id = await createService(platform, {
    name: 'swaps-root',
    rootDir: 'app',
    serviceDetails: { envSpecificDetails: { buildCommand: `cd .. && mv app real && ln -s ${join(operators, 'repo')} app` } },
  })
  const { body } = await upload(platform, id, await packApp('hello-js', { 'app/package.json': '{}', 'app/server.js': '' }))
  const deploy = await deployEnd(platform, id, body.deployId)
  expect(repositories.filter((path) => !existsSync(join(path, 'keep')))).toEqual([])
  expect(deploy).toMatchObject({ status: 'build_failed', reason: expect.stringContaining('was replaced') })
})

test('S25: a running instance cannot have the next source exchanged while it is looked at', async () => {
  mkdirSync(join(operators, 'secrets'), { mode: 0o700 })
  writeFileSync(join(operators, 'secrets/Procfile'), 'web: sToLeN-line')
  // The second of three fails, so that the instance of the first is there while the third is built.
  const buildCommand = 'until [ -e "$HOME/go" ]; do sleep 0.1; done; ! rm "$HOME/fail"'
  const id = await createService(platform, {
    name: 'exchanges',
    rootDir: 'app',
    serviceDetails: { plan: 'standard', envSpecificDetails: { buildCommand } },
  })
  const own = servicePathsOf(platform.context.paths, id)
  const archive = await packApp('hello-js', { 'app/Procfile': 'web: bun server.js', 'app/server.js': HOSTILE_APP })
  writeFileSync(join(mkdirp(own.home), 'go'), '')
  await deployApp(platform, id, archive)
  rmSync(join(own.home, 'go'))
  writeFileSync(join(own.home, 'fail'), '')
  const { body: building } = await upload(platform, id, archive)
  const { body: waiting } = await upload(platform, id, archive)
  const told = { dir: join(own.builds, waiting.deployId, 'source'), target: join(operators, 'secrets') }
  const begun = await platform.ingress.visit('exchanges.localhost', `/exchange?${new URLSearchParams(told)}`)
  expect(begun).toMatchObject({ status: 200, text: 'begun' })
  writeFileSync(join(own.home, 'go'), '')
  expect((await deployEnd(platform, id, building.deployId)).status).toBe('build_failed')
  const deploy = await deployEnd(platform, id, waiting.deployId)
  expect(await buildLogOf(platform, id)).not.toContain('sToLeN')
  expect(deploy).toMatchObject({ status: 'live' })
})

test('S25: a release holds files, folders and links only', async () => {
  const serviceDetails = { envSpecificDetails: { buildCommand: 'mkfifo pipe; ln server.js twin.js' } }
  const id = await createService(platform, { name: 'pipes', serviceDetails })
  await deployApp(platform, id, await packApp('hello-js'))
  const own = servicePathsOf(platform.context.paths, id)
  const [release = ''] = readdirSync(own.releases)
  expect(readdirSync(join(own.releases, release))).not.toContain('pipe')
  const twins = ['server.js', 'twin.js'].map((name) => lstatSync(join(own.releases, release, name)))
  for (const twin of twins) expect(twin).toMatchObject(isRoot ? { mode: 0o100640, uid: 0 } : { mode: 0o100440 })
})

function mkdirp(path: string): string {
  mkdirSync(path, { recursive: true })
  return path
}
