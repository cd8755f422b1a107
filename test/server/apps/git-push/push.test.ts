import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type Developer, newDeveloper } from '../../../support/git.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'

let platform: Platform
let workspaceId: string
let developer: Developer
beforeAll(async () => {
  platform = await startPlatform()
  workspaceId = await defaultWorkspaceId(platform)
  developer = newDeveloper()
})
afterAll(async () => {
  developer.leave()
  await platform.close()
})

const remote = (service: string, token = platform.adminToken): string =>
  `${platform.url.replace('://', `://git:${token}@`)}/git/${workspaceId}/${service}.git`

test('a push to main is live when it ends, and its history can be cloned', async () => {
  await createService(platform, { name: 'site', type: 'static_site', serviceDetails: { publishPath: '.' } })
  const dir = await developer.begin('site', { 'index.html': 'first' })
  const pushed = await developer.run(dir, 'push', remote('site'), 'main')
  expect(pushed).toMatchObject({ exitCode: 0 })
  expect(pushed.stderr).toMatch(/remote: .*Live\./)
  expect(pushed.stderr).toMatch(/remote: site is live: http:/)
  const cloned = await developer.run(developer.folder, 'clone', '-q', remote('site'), 'cloned')
  expect(cloned).toMatchObject({ exitCode: 0 })
  expect((await developer.run(join(developer.folder, 'cloned'), 'rev-parse', 'HEAD')).stdout).toBe(
    (await developer.run(dir, 'rev-parse', 'HEAD')).stdout,
  )
  expect(JSON.stringify(platform.logged)).not.toContain(platform.adminToken)
})

test('a push whose build fails is refused with its log, and the branch stays', async () => {
  const details = { publishPath: '.', buildCommand: 'echo gone-wrong; exit 3' }
  await createService(platform, { name: 'broken', type: 'static_site', serviceDetails: details })
  const dir = await developer.begin('broken', { 'index.html': 'first' })
  const pushed = await developer.run(dir, 'push', remote('broken'), 'main')
  expect(pushed.exitCode).toBe(1)
  expect(pushed.stderr).toContain('gone-wrong')
  expect(pushed.stderr).toMatch(/\[remote rejected\].*deploy failed: /)
  expect((await developer.run(dir, 'ls-remote', remote('broken'))).stdout).toBe('')
})

test('other branches and skipped commits are kept without a deploy', async () => {
  const serviceId = await createService(platform, { name: 'kept', type: 'static_site', serviceDetails: { publishPath: '.' } })
  const dir = await developer.begin('kept', { 'index.html': 'first' }, 'First [skip deploy]')
  const pushed = await developer.run(dir, 'push', remote('kept'), 'main', 'main:refs/heads/feature')
  expect(pushed).toMatchObject({ exitCode: 0 })
  expect(pushed.stderr).toContain('Only main deploys: feature is kept.')
  expect((await developer.run(dir, 'ls-remote', '--heads', remote('kept'))).stdout.trim().split('\n')).toHaveLength(2)
  expect((await call<unknown[]>(`${platform.url}/v1/services/${serviceId}/deploys`, { token: platform.adminToken })).body).toEqual([])
})

test('a service that names its branch deploys that one, and who clones begins there', async () => {
  await createService(platform, { name: 'named', type: 'static_site', branch: 'production', serviceDetails: { publishPath: '.' } })
  const dir = await developer.begin('named', { 'index.html': 'first' })
  const kept = await developer.run(dir, 'push', remote('named'), 'main')
  expect(kept.stderr).toContain('Only production deploys: main is kept.')
  expect((await developer.run(dir, 'push', remote('named'), 'main:production')).stderr).toContain('named is live: ')
  expect((await developer.run(dir, 'ls-remote', '--symref', remote('named'), 'HEAD')).stdout).toContain('refs/heads/production')
})

test('cpctl gives git the key of its login, so that none stands in the repository', async () => {
  const serviceId = await createService(platform, { name: 'helped', type: 'static_site', serviceDetails: { publishPath: '.' } })
  const dir = await developer.begin('helped', { 'index.html': 'first' })
  const bin = join(developer.folder, 'bin')
  mkdirSync(bin)
  const cli = join(import.meta.dirname, '../../../../cli/main.ts')
  writeFileSync(join(bin, 'cpctl'), `#!/bin/sh\nexec ${process.execPath} ${cli} "$@"\n`, { mode: 0o755 })
  const env = { ...developer.env, PATH: `${bin}:/usr/bin:/bin`, CPCTL_URL: platform.url, CPCTL_TOKEN: platform.adminToken }
  const run = (...argv: string[]) => runProcess(argv, { cwd: dir, env, timeoutMs: 60_000 })
  expect(await run('cpctl', 'git-remote', 'add', serviceId)).toMatchObject({ exitCode: 0 })
  expect((await run('git', 'push', 'cpd', 'main')).stderr).toContain('helped is live: ')
  expect(readFileSync(join(dir, '.git/config'), 'utf8')).not.toContain(platform.adminToken)
  const lost = await runProcess(['git', 'fetch', 'cpd'], { cwd: dir, env: { ...env, CPCTL_TOKEN: '' } })
  expect(lost).toMatchObject({ exitCode: 128, stderr: expect.stringContaining('cpctl login') })
})

test('who shows no key is asked for one, and a service that is not there is not found', async () => {
  const path = `/git/${workspaceId}/site.git/info/refs?service=git-receive-pack`
  const anonymous = await call(platform.url + path, { headers: { 'user-agent': 'git/2.39' } })
  expect(anonymous.status).toBe(401)
  expect(anonymous.headers.get('www-authenticate')).toMatch(/^Basic /)
  const dir = await developer.begin('nowhere', { 'index.html': 'first' })
  expect((await developer.run(dir, 'push', remote('site', 'cpk_wrong'), 'main')).stderr).toMatch(/Authentication failed/)
  expect((await developer.run(dir, 'push', remote('not-there'), 'main')).stderr).toMatch(/not found/)
})
