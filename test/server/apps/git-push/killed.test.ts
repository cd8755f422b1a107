import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { type Developer, newDeveloper } from '../../../support/git.ts'
import { until } from '../../../support/until.ts'

let plane: ControlPlane
let developer: Developer
let workspaceId: string
beforeAll(async () => {
  plane = await startControlPlane()
  developer = newDeveloper()
  const { body } = await call<{ owner: { id: string } }[]>(`${plane.url}/v1/owners`, { token: plane.adminToken })
  workspaceId = body[0]?.owner.id ?? ''
})
afterAll(async () => {
  developer.leave()
  await plane.close()
})

const push = (service: string, dir: string, ...what: string[]) =>
  developer.runWith(plane.adminToken, dir, 'push', `${plane.url}/git/${workspaceId}/${service}.git`, ...what)

const folderOf = (serviceId: string): string => join(plane.dataDir, 'services', serviceId, 'git')

const headOf = async (service: string): Promise<string | undefined> => {
  const args = ['ls-remote', `${plane.url}/git/${workspaceId}/${service}.git`, 'refs/heads/main']
  return (await developer.runWith(plane.adminToken, developer.folder, ...args)).stdout.split('\t')[0] || undefined
}

const deploysOf = async (serviceId: string): Promise<Deploy[]> => {
  const { body } = await call<{ deploy: Deploy }[]>(`${plane.url}/v1/services/${serviceId}/deploys`, { token: plane.adminToken })
  return body.map(({ deploy }) => deploy)
}

async function expectSound(serviceId: string): Promise<void> {
  const argv = ['git', '-c', 'safe.directory=*', '-C', folderOf(serviceId), 'fsck', '--full', '--strict', '--no-dangling']
  expect(await runProcess(argv, { env: { PATH: '/usr/bin:/bin' } })).toMatchObject({ exitCode: 0 })
}

/** How long after its beginning a push is cut: while its objects come, while they become a source, while it builds. */
const moments = [60, 160, 300, 600]

test('a control plane that is killed in the middle of a push leaves a sound repository, and the branch is where the live deploy is', async () => {
  const serviceId = await createService(plane, {
    name: 'site',
    type: 'static_site',
    serviceDetails: { publishPath: '.', buildCommand: 'sleep 0.8' },
  })
  const dir = await developer.begin('site', { 'index.html': '0' })
  for (const ms of moments) {
    const [before, known] = [await headOf('site'), (await deploysOf(serviceId)).length]
    const pushed = await developer.commit(dir, { 'index.html': String(ms) }, `Change at ${ms}`)
    const pushing = push('site', dir, '--force', 'main')
    await Bun.sleep(ms)
    await plane.kill()
    expect((await pushing).exitCode).not.toBe(0)
    await plane.start()
    const [newest, ...others] = await until('no deploy is under way', async () => {
      const all = await deploysOf(serviceId)
      return all.every(({ finishedAt }) => finishedAt !== undefined) && all
    })
    const end = newest === undefined || others.length + 1 === known ? 'no deploy' : newest.status
    await until('the branch is where the deploy has left it', async () => (await headOf('site')) === (end === 'live' ? pushed : before))
    await expectSound(serviceId)
    // Nothing blocks the next: it is taken at once, or after the one that is being concluded.
    await until('the next push is taken', async () => (await push('site', dir, '--force', 'main')).exitCode === 0)
    expect(await headOf('site')).toBe(pushed)
    const left = readdirSync(join(folderOf(serviceId), 'objects'), { recursive: true, encoding: 'utf8' })
    expect(left.filter((path) => /tmp_/.test(path))).toEqual([])
  }
})

test('a deploy that goes on without its client is followed by its branch', async () => {
  const serviceId = await createService(plane, {
    name: 'alone',
    type: 'static_site',
    serviceDetails: { publishPath: '.', buildCommand: 'sleep 1' },
  })
  const dir = await developer.begin('alone', { 'index.html': '0' })
  const head = (await developer.run(dir, 'rev-parse', 'HEAD')).stdout.trim()
  const address = `${plane.url.replace('://', `://x:${plane.adminToken}@`)}/git/${workspaceId}/alone.git`
  const leaving = spawnProcess(['git', 'push', address, 'main'], { cwd: dir, env: developer.env, detached: true })
  await until('its deploy has begun', async () => (await deploysOf(serviceId)).length > 0)
  process.kill(-leaving.pid, 'SIGKILL')
  expect(await leaving.exited).toMatchObject({ signal: 'SIGKILL' })
  await until('the branch follows', async () => (await headOf('alone')) === head)
})
