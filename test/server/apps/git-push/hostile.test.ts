import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type Developer, newDeveloper, packOf, pushBody } from '../../../support/git.ts'
import { defaultWorkspaceId, makeKey, registerTenant } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'
import { good, hostilePacks, hostileRefs, packWith } from './hostile-pushes.ts'

const MAX_MIB = 8
const SOURCE_MAX_MIB = 8

let platform: Platform
let workspaceId: string
let developer: Developer
beforeAll(async () => {
  platform = await startPlatform({ CP_GIT_MAX_MB: String(MAX_MIB), CP_SOURCE_MAX_MB: String(SOURCE_MAX_MIB) })
  workspaceId = await defaultWorkspaceId(platform)
  developer = newDeveloper()
})
afterAll(async () => {
  developer.leave()
  await platform.close()
})

const addressOf = (service: string, workspace = workspaceId): string => `${platform.url}/git/${workspace}/${service}.git`

const newSite = (name: string, details: Record<string, unknown> = {}): Promise<string> =>
  createService(platform, { name, type: 'static_site', serviceDetails: { publishPath: '.', ...details } })

const folderOf = (serviceId: string): string => join(platform.dataDir, 'services', serviceId, 'git')

const push = (service: string, dir: string, ...what: string[]) =>
  developer.runWith(platform.adminToken, dir, 'push', addressOf(service), ...what)

const rawPush = (service: string, raw: Uint8Array<ArrayBuffer>) =>
  call<string>(`${addressOf(service)}/git-receive-pack`, {
    raw,
    token: platform.adminToken,
    headers: { 'content-type': 'application/x-git-receive-pack-request' },
  })

const refsOf = async (service: string): Promise<string[]> => {
  const { stdout } = await developer.runWith(platform.adminToken, developer.folder, 'ls-remote', addressOf(service))
  return stdout.split('\n').flatMap((line) => line.split('\t')[1] ?? [])
}

/** What pushes have left beside the objects that git keeps for good. */
const leftIn = (serviceId: string): string[] =>
  readdirSync(join(folderOf(serviceId), 'objects'), { recursive: true, encoding: 'utf8' }).filter((path) => /tmp_|incoming/.test(path))

async function expectSound(serviceId: string): Promise<void> {
  const { exitCode, stdout, stderr } = await runProcess(
    ['git', '-c', 'safe.directory=*', '-C', folderOf(serviceId), 'fsck', '--full', '--strict', '--no-dangling'],
    { env: { PATH: '/usr/bin:/bin' } },
  )
  expect({ exitCode, said: `${stdout}${stderr}` }).toMatchObject({ exitCode: 0 })
  expect(leftIn(serviceId)).toEqual([])
  expect(platform.context.db.query('SELECT count(*) AS count FROM git_pushes WHERE service_id = ?').get(serviceId)).toEqual({ count: 0 })
}

test('names that lead elsewhere, hide or pretend are no names of refs', async () => {
  const serviceId = await newSite('names')
  const dir = await developer.begin('names', { 'index.html': 'first' }, 'First [skip deploy]')
  expect(await push('names', dir, 'main')).toMatchObject({ exitCode: 0 })
  const head = (await developer.run(dir, 'rev-parse', 'HEAD')).stdout.trim()
  const before = readFileSync(join(folderOf(serviceId), 'config'), 'utf8')
  const { status, body } = await rawPush('names', pushBody(hostileRefs, head, packOf([])))
  expect(status).toBe(200)
  expect(body.match(/ng /g)?.length).toBe(hostileRefs.length)
  expect(await refsOf('names')).toEqual(['HEAD', 'refs/heads/main'])
  expect(readFileSync(join(folderOf(serviceId), 'config'), 'utf8')).toBe(before)
  await expectSound(serviceId)
})

test('packs that are damaged, lie or lead nowhere are refused, and nothing of them stays', async () => {
  const serviceId = await newSite('packs')
  for (const [what, pack] of Object.entries(hostilePacks)) {
    const { status, body } = await rawPush('packs', pushBody(['refs/heads/main'], good.commit, pack))
    expect({ what, status, body }).toMatchObject({ status: 200, body: expect.stringMatching(/ng refs\/heads\/main /) })
  }
  expect(await refsOf('packs')).toEqual([])
  await expectSound(serviceId)
  expect((await rawPush('packs', pushBody(['refs/heads/main'], good.commit, good.pack))).body).toContain('ok refs/heads/main')
})

test.each([
  ['40000', '..'],
  ['40000', '.git'],
  ['100644', '.GIT'],
  ['100644', '.git\u200c'],
  ['100644', 'a/b'],
  ['120000', '.gitmodules'],
])('a tree with an entry of the mode %s and the name %j is refused', async (mode, name) => {
  const service = `tree-${Buffer.from(mode + name)
    .toString('hex')
    .slice(-20)}`
  const serviceId = await newSite(service)
  const { commit, pack } = packWith(mode, name)
  expect((await rawPush(service, pushBody(['refs/heads/main'], commit, pack))).body).toMatch(/ng refs\/heads\/main /)
  expect(await refsOf(service)).toEqual([])
  await expectSound(serviceId)
})

test('a history larger than it may be is refused with words, and takes no room', async () => {
  const serviceId = await newSite('large')
  const dir = await developer.begin('large', { 'index.html': 'first', noise: randomBytes(12 * 1024 * 1024).toString('base64') })
  const pushed = await push('large', dir, 'main')
  expect(pushed.exitCode).toBe(1)
  expect(pushed.stderr).toMatch(/pack exceeds maximum allowed size/)
  await expectSound(serviceId)
  const { stdout } = await runProcess(['du', '-sk', folderOf(serviceId)])
  expect(Number.parseInt(stdout, 10)).toBeLessThan(1024)
})

test('a small pack that unpacks to more than a source may have is not deployed', async () => {
  const serviceId = await newSite('bomb')
  const dir = await developer.begin('bomb', { 'index.html': 'first', zeros: '0'.repeat(4 * SOURCE_MAX_MIB * 1024 * 1024) })
  const pushed = await push('bomb', dir, 'main')
  expect(pushed.exitCode).toBe(1)
  expect(pushed.stderr).toMatch(/\[remote rejected\]/)
  expect(await refsOf('bomb')).toEqual([])
  await expectSound(serviceId)
})

test('links that lead out of the tree are not deployed, and submodules are left out with words', async () => {
  const serviceId = await newSite('links')
  const dir = await developer.begin('links', { 'index.html': 'first' }, 'First [skip deploy]')
  symlinkSync('/etc/passwd', join(dir, 'stolen'))
  await developer.commit(dir, { 'index.html': 'second' }, 'Second')
  const refused = await push('links', dir, 'main')
  expect({ exitCode: refused.exitCode, said: refused.stderr }).toEqual({
    exitCode: 1,
    said: expect.stringMatching(/\[remote rejected\].*link/i),
  })

  await developer.run(dir, 'rm', '-q', 'stolen')
  const head = (await developer.run(dir, 'rev-parse', 'HEAD')).stdout.trim()
  await developer.run(dir, 'update-index', '--add', '--cacheinfo', `160000,${head},library`)
  await developer.run(dir, 'config', '-f', '.gitmodules', 'submodule.library.path', 'library')
  await developer.run(dir, 'config', '-f', '.gitmodules', 'submodule.library.url', 'https://example.com/library.git')
  await developer.run(dir, 'add', '.gitmodules')
  await developer.run(dir, 'commit', '-qm', 'Third')
  const taken = await push('links', dir, 'main')
  expect({ exitCode: taken.exitCode, said: taken.stderr }).toEqual({
    exitCode: 0,
    said: expect.stringContaining('Submodules are not fetched'),
  })
  await expectSound(serviceId)
})

/** Its end is heard of a moment after git has ended. */
function isFree(serviceId: string): boolean {
  try {
    platform.context.work.pushes.enter(serviceId)()
    return true
  } catch {
    return false
  }
}

test('a push whose connection breaks leaves nothing, and the next is taken', async () => {
  const serviceId = await newSite('broken-off')
  const dir = await developer.begin('broken-off', { 'index.html': 'first' }, 'First [skip deploy]')
  expect(await push('broken-off', dir, 'main')).toMatchObject({ exitCode: 0 })
  const { hostname, port, pathname } = new URL(`${addressOf('broken-off')}/git-receive-pack`)
  const body = pushBody(['refs/heads/other'], good.commit, good.pack.subarray(0, 40))
  for (let at = 0; at < 5; at++) {
    const client = connect({ host: hostname, port: Number(port) })
    const heads = [
      `POST ${pathname} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${platform.adminToken}`,
      'Content-Type: application/x-git-receive-pack-request',
      `Content-Length: ${body.length + 1000}`,
    ]
    client.write(`${heads.join('\r\n')}\r\n\r\n`)
    client.write(body)
    await until('git is at it', () => leftIn(serviceId).length > 0)
    client.destroy()
    await until('what it brought is gone', () => leftIn(serviceId).length === 0)
    await until('another may begin', () => isFree(serviceId))
  }
  await developer.commit(dir, { 'index.html': 'second' }, 'Second [skip deploy]')
  await until('the next is taken', async () => (await push('broken-off', dir, 'main')).exitCode === 0)
  await expectSound(serviceId)
})

test('a key that is revoked pushes and fetches nothing more, one that only reads does not push, and others see no repository', async () => {
  await newSite('guarded')
  const dir = await developer.begin('guarded', { 'index.html': 'first' }, 'First [skip deploy]')
  const key = await makeKey(platform, 'admin')
  const as = (token: string, ...args: string[]) => developer.runWith(token, dir, ...args)
  expect(await as(key.secret, 'push', addressOf('guarded'), 'main')).toMatchObject({ exitCode: 0 })
  await call(`${platform.url}/v1/api-keys/${key.id}`, { method: 'DELETE', token: platform.adminToken })
  for (const what of [
    ['push', addressOf('guarded'), 'main:again'],
    ['fetch', addressOf('guarded')],
  ])
    expect((await as(key.secret, ...what)).stderr).toMatch(/could not read Username|Authentication failed/)
  const reader = await makeKey(platform, 'viewer')
  expect((await as(reader.secret, 'push', addressOf('guarded'), 'main:again')).stderr).toMatch(/403/)
  const stranger = await registerTenant(platform, 'stranger@example.com')
  for (const workspace of [workspaceId, stranger.workspaceId])
    for (const what of [
      ['push', addressOf('guarded', workspace), 'main:again'],
      ['fetch', addressOf('guarded', workspace)],
    ])
      expect((await as(stranger.token, ...what)).stderr).toMatch(/not found|403/)
  expect(await refsOf('guarded')).toEqual(['HEAD', 'refs/heads/main'])
})

test('a build reaches nothing of the repository that it comes from', async () => {
  const serviceId = await newSite('curious')
  const folder = folderOf(serviceId)
  const buildCommand = `touch ${folder}/owned && echo reached || echo held; cat ${folder}/HEAD ../../git/HEAD || echo hidden`
  await call(`${platform.url}/v1/services/${serviceId}`, {
    method: 'PATCH',
    token: platform.adminToken,
    json: { serviceDetails: { buildCommand } },
  })
  const dir = await developer.begin('curious', { 'index.html': 'first' })
  const pushed = await push('curious', dir, 'main')
  expect(pushed).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/remote: held\s.*remote: hidden\s/s) })
  expect(pushed.stderr).not.toMatch(/remote: (?:reached|ref:)/)
  expect(existsSync(join(folder, 'owned'))).toBe(false)
})

test('while a push deploys, its key stands in no process, log, row or file of the platform', async () => {
  const serviceId = await newSite('secret', { buildCommand: 'touch building; sleep 1; env > env.txt' })
  const dir = await developer.begin('secret', { 'index.html': 'first' })
  const key = await makeKey(platform, 'admin')
  const pushing = developer.runWith(key.secret, dir, 'push', addressOf('secret'), 'main')
  const encoded = Buffer.from(`git:${key.secret}`).toString('base64')
  let looks = 0
  const over = { now: false }
  void pushing.then(() => Object.assign(over, { now: true }))
  await until(
    'the push has ended',
    () => {
      looks += 1
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        const file = `/proc/${pid}/cmdline`
        const line = existsSync(file) ? readOrNothing(file) : ''
        expect(line.includes(key.secret) || line.includes(encoded)).toBe(false)
      }
      return over.now
    },
    60_000,
  )
  expect(await pushing).toMatchObject({ exitCode: 0 })
  expect(looks).toBeGreaterThan(5)
  expect(platform.logged.join('\n')).not.toContain(key.secret)
  for (const words of [key.secret, encoded])
    expect((await runProcess(['grep', '-rlaF', words, join(platform.dataDir, 'services', serviceId)])).stdout).toBe('')
})

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
