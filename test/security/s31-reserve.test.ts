import { closeSync, fstatSync, openSync, readdirSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDiskGuard } from '../../server/apps/space/guard.ts'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { packApp, upload } from '../support/apps.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { makeService, type TestService } from '../support/service.ts'
import { makeSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'

/** What S31 promises of a disk that is nearly full: those who fill it are stopped, or refused, and the control plane goes on. */
const MIB = 1024 * 1024
const DISK_BYTES = 700 * MIB
const DISK_FILES = 80_000
const RESERVE_MB = 100
const LIMIT_MS = 120_000
const PATIENCE = 60_000

/** Asked to, it makes empty files without end, 5,000 a second at most: on a busy machine, where all else waits for its turn, a disk of this size is full within a second otherwise. */
const hogJs = `
const fs = require('node:fs')
let count = 0
require('node:http').createServer((request, response) => {
  response.end('filling')
  if (request.url !== '/files') return
  const fill = () => {
    try { for (let n = 0; n < 100; n++) fs.closeSync(fs.openSync(process.env.HOME + '/' + count++, 'w')) } catch {}
    setTimeout(fill, 20)
  }
  fill()
}).listen(Number(process.env.PORT), '127.0.0.1')
`

describe.runIf(process.getuid?.() === 0)('S31: on a disk that has a reserve', () => {
  let disk: SmallDisk
  let platform: Platform
  let service: TestService
  beforeAll(async () => {
    disk = await makeSmallDisk(DISK_BYTES, { mkfs: ['-N', String(DISK_FILES)] })
    platform = await startPlatform({ CP_DISK_RESERVE_MB: String(RESERVE_MB) }, { parent: disk.dir })
    startDiskGuard(platform.context)
    service = await makeService(platform, { name: 'hog' })
    await service.goLive('hello-js', { 'server.js': hogJs })
  }, LIMIT_MS)
  afterAll(async () => {
    try {
      await platform.close()
    } finally {
      await disk.close()
    }
  }, LIMIT_MS)

  const own = () => servicePathsOf(platform.context.paths, service.id)
  const free = () => {
    const { bavail, bsize, ffree } = statfsSync(disk.dir)
    return { mb: (bavail * bsize) / MIB, files: ffree }
  }

  test(
    'an app that takes all room for files is stopped and named, while the control plane makes files',
    async () => {
      await platform.ingress.visit('hog.localhost', '/files')
      const failure = await until(
        'it is stopped',
        async () => (await service.events()).find(({ type }) => type === 'server_failed'),
        PATIENCE,
      )
      expect(String(failure.details.reason)).toMatch(
        /^It filled the disk: room for \d+ files was left on it, where room for \d+ must stay, and it held \d+ files/,
      )
      // How much is left says how fast it was; that there is something left, that it was stopped in time.
      expect(free().files).toBeGreaterThan(0)
      await makeService(platform, { name: 'made meanwhile' })
      for (const name of readdirSync(own().home)) rmSync(join(own().home, name), { recursive: true })
      await until('there is room again', () => free().files > DISK_FILES / 10, PATIENCE)
      await service.settles('running')
    },
    LIMIT_MS,
  )

  test(
    'uploads and builds into the reserve are refused, saying why, and leave nothing',
    async () => {
      const archive = await packApp('hello-js')
      const kept = [await upload(platform, service.id, archive, { query: '?deploy=false' })]
      expect(kept[0]?.status).toBe(201)
      await withFiller(async () => {
        const refused = await upload<{ message: string }>(platform, service.id, archive, { query: '?deploy=false' })
        expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
        expect(refused.body.message).toMatch(/^There is no room for the upload on the server's disk\. Its operator has to free some/)
        expect(readdirSync(platform.context.paths.uploads)).toEqual([])
        const { body } = await service.ask<{ id: string }>('/deploys', { method: 'POST', json: {} })
        expect(await service.ends(body.id)).toMatchObject({
          status: 'build_failed',
          reason: expect.stringContaining('no room for a build'),
        })
      })
    },
    LIMIT_MS,
  )

  test(
    'an upload on its way ends when it comes to the reserve, and leaves nothing',
    async () => {
      const filled = Promise.withResolvers<void>()
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue((await packApp('hello-js')).subarray(0, 100))
          await filled.promise
        },
        async pull(controller) {
          await Bun.sleep(50)
          controller.enqueue(new Uint8Array(100))
        },
      })
      const headers = { authorization: `Bearer ${platform.adminToken}`, 'content-type': 'application/gzip' }
      const sending = fetch(`${platform.url}/v1/services/${service.id}/source/upload?deploy=false`, { method: 'POST', headers, body })
      const early = sending.then(async (reply) => expect.fail(`${reply.status} before the disk is full: ${await reply.clone().text()}`))
      early.catch(() => {})
      await Promise.race([early, until('it has begun', () => readdirSync(platform.context.paths.uploads).length === 1, PATIENCE)])
      await withFiller(async () => {
        filled.resolve()
        const refused = await sending
        expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('There is no room for the upload')])
        expect(readdirSync(platform.context.paths.uploads)).toEqual([])
      })
    },
    LIMIT_MS,
  )

  test(
    'of what is kept, the service that has most loses it first, but for its newest',
    async () => {
      const fullest = await makeService(platform, { name: 'fullest' })
      const archiveOf = async () => await packApp('hello-js', { 'data.bin': noise(4 * MIB) })
      for (let n = 0; n < 3; n++)
        expect(await upload(platform, fullest.id, await archiveOf(), { query: '?deploy=false' })).toMatchObject({ status: 201 })
      const { sources } = servicePathsOf(platform.context.paths, fullest.id)
      expect(readdirSync(sources)).toHaveLength(3)
      const others = readdirSync(own().sources)
      await withFiller(async () => {
        await until('older uploads are gone', () => readdirSync(sources).length === 1, PATIENCE)
        expect(readdirSync(own().sources)).toEqual(others)
      })
    },
    LIMIT_MS,
  )

  /** While something that is no service's takes half of the reserve. */
  async function withFiller(act: () => Promise<void>): Promise<void> {
    const path = join(disk.dir, 'filler')
    const descriptor = openSync(path, 'w')
    try {
      while (free().mb > RESERVE_MB * 0.5) writeSync(descriptor, new Uint8Array(MIB))
      expect(fstatSync(descriptor).size).toBeGreaterThan(0)
      await act()
    } finally {
      closeSync(descriptor)
      rmSync(path)
      await until('its room is there again', () => free().mb > RESERVE_MB, PATIENCE)
    }
  }
})

/** Text that does not compress well. */
function noise(length: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
    .toString('base64')
    .repeat(Math.ceil(length / 87_384))
}
