import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepFolders } from '../../server/boot/serve/sweep-folders.ts'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { createService, deployApp, packApp } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'

let platform: Platform
let outside: string
beforeAll(async () => {
  platform = await startPlatform({ CP_RELEASES_KEPT: '2' })
  outside = mkdtempSync(join(tmpdir(), 'cpd-outside-'))
  mkdirSync(join(outside, 'folder'))
  writeFileSync(join(outside, 'folder', 'precious.txt'), 'precious', { mode: 0o644 })
})
afterAll(async () => {
  await platform.close()
  rmSync(outside, { recursive: true, force: true })
})

const precious = () => join(outside, 'folder', 'precious.txt')

function expectOutsideUntouched(): void {
  expect(readFileSync(precious(), 'utf8')).toBe('precious')
  const { mode, uid, gid } = statSync(precious())
  expect({ mode: mode & 0o777, uid, gid }).toEqual({ mode: 0o644, uid: process.getuid?.(), gid: process.getgid?.() })
  expect(readdirSync(join(outside, 'folder'))).toEqual(['precious.txt'])
}

/** Links to the outside wherever the service's own user can put some. */
function plantLinks(serviceId: string): void {
  const own = servicePathsOf(platform.context.paths, serviceId)
  const { uid } = platform.db.query<{ uid: number }, [string]>('SELECT uid FROM services WHERE id = ?').get(serviceId) ?? { uid: 0 }
  for (const folder of [own.home, own.tmp, own.cache]) {
    mkdirSync(join(folder, 'deep'))
    if (process.getuid?.() === 0) chownSync(join(folder, 'deep'), uid, uid)
    symlinkSync(join(outside, 'folder'), join(folder, 'folder'))
    symlinkSync(precious(), join(folder, 'file'))
    symlinkSync('/', join(folder, 'deep', 'root'))
    symlinkSync('../../../..', join(folder, 'deep', 'up'))
  }
}

const gone = async (serviceId: string) => {
  expect((await call(`${platform.url}/v1/services/${serviceId}`, { method: 'DELETE', token: platform.adminToken })).status).toBe(204)
  await expect.poll(() => existsSync(servicePathsOf(platform.context.paths, serviceId).root), { timeout: 20_000 }).toBe(false)
}

test('S23: deleting a service removes its folders, follows no link out of them, and leaves the neighbours', async () => {
  const neighbour = await createService(platform, { name: 'neighbour' })
  await deployApp(platform, neighbour, await packApp('hello-js'))
  const doomed = await createService(platform, { name: 'doomed' })
  await deployApp(platform, doomed, await packApp('hello-js'))
  plantLinks(doomed)
  const stranger = join(platform.context.paths.data, 'not-ours.txt')
  writeFileSync(stranger, 'kept')
  await gone(doomed)
  expectOutsideUntouched()
  expect(readFileSync(stranger, 'utf8')).toBe('kept')
  expect(await platform.ingress.visit('neighbour.localhost')).toMatchObject({ status: 200 })
  expect(await platform.ingress.visit('doomed.localhost')).toMatchObject({ status: 404 })
  expect(platform.db.query('SELECT count(*) AS count FROM deploys WHERE service_id = ?').get(doomed)).toEqual({ count: 0 })
})

test('S23: a build that leaves links to the outside has them neither followed, re-owned nor emptied', async () => {
  const links = `ln -s ${outside}/folder out; ln -s ${precious()} precious; ln -s / root`
  const id = await createService(platform, {
    name: 'linker',
    serviceDetails: { envSpecificDetails: { buildCommand: links, startCommand: 'node server.js' } },
  })
  const { body } = await call<{ deployId: string }>(`${platform.url}/v1/services/${id}/source/upload`, {
    raw: await packApp('hello-js'),
    token: platform.adminToken,
    headers: { 'content-type': 'application/gzip' },
  })
  // Whether such a release is refused or kept as it is: nothing of ours goes through the links.
  await expect
    .poll(
      async () =>
        (
          await call<{ finishedAt?: string }>(`${platform.url}/v1/services/${id}/deploys/${body.deployId}`, {
            token: platform.adminToken,
          })
        ).body.finishedAt,
      {
        timeout: 20_000,
      },
    )
    .toBeDefined()
  expectOutsideUntouched()
  expect(statSync('/').uid).toBe(0)
  await gone(id)
  expectOutsideUntouched()
})

test('S23: pruning old releases and clearing the cache follow no link', async () => {
  const id = await createService(platform, { name: 'pruned' })
  for (const version of ['1', '2', '3']) await deployApp(platform, id, await packApp('hello-js', { VERSION: version }))
  plantLinks(id)
  const { body } = await call<{ id: string }>(`${platform.url}/v1/services/${id}/deploys`, {
    json: { clearCache: 'clear' },
    token: platform.adminToken,
  })
  await expect
    .poll(
      async () =>
        (await call<{ status: string }>(`${platform.url}/v1/services/${id}/deploys/${body.id}`, { token: platform.adminToken })).body
          .status,
      {
        timeout: 20_000,
      },
    )
    .toBe('live')
  const own = servicePathsOf(platform.context.paths, id)
  await expect.poll(() => readdirSync(own.releases).length, { timeout: 10_000 }).toBeLessThanOrEqual(2)
  expectOutsideUntouched()
})

test('S23: the sweep at a start removes folders of services that are gone and nothing outside', async () => {
  const { paths } = platform.context
  const left = join(paths.services, 'srv-00000000000000000000')
  mkdirSync(join(left, 'home'), { recursive: true })
  symlinkSync(join(outside, 'folder'), join(left, 'home', 'folder'))
  symlinkSync(join(outside, 'folder'), join(paths.services, 'srv-0000000000000000000v'))
  await sweepFolders(platform.context)
  expect(existsSync(left)).toBe(false)
  expectOutsideUntouched()
})
