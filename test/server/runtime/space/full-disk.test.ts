import { existsSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDiskGuard } from '../../../../server/apps/space/guard.ts'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import { workloadsOf } from '../../../../server/runtime/workloads/store.ts'
import { shellCloseCodes } from '../../../../shared/shell.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { openShell } from '../../../support/shell.ts'
import { makeSmallDisk, type SmallDisk } from '../../../support/small-disk.ts'
import { until } from '../../../support/until.ts'

const MIB = 1024 * 1024
const DISK_BYTES = 900 * MIB
const RESERVE_MB = 100

/** Asked for a path, it fills a folder as fast as it can, until it is ended. */
const hogJs = `
const fs = require('node:fs')
const chunk = Buffer.alloc(4 * 1024 * 1024, 'x')
require('node:http').createServer((request, response) => {
  response.end('filling')
  if (request.url === '/') return
  const folder = request.url === '/home' ? process.env.HOME : '/tmp'
  const file = fs.openSync(folder + '/big', 'a')
  if (request.url === '/removed') fs.unlinkSync(folder + '/big')
  const fill = () => {
    try { fs.writeSync(file, chunk) } catch {}
    setImmediate(fill)
  }
  fill()
}).listen(Number(process.env.PORT), '127.0.0.1')
`

/** Writes a small file every few milliseconds, and tells for how long at a time it could not. */
const neighbourJs = `
const fs = require('node:fs')
let written = 0, failingSince = 0, longestMs = 0
setInterval(() => {
  try {
    fs.writeFileSync(process.env.HOME + '/note', 'x'.repeat(4096))
    fs.rmSync(process.env.HOME + '/note')
    written++
    failingSince = 0
  } catch {
    failingSince ||= Date.now()
    longestMs = Math.max(longestMs, Date.now() - failingSince)
  }
}, 5)
require('node:http').createServer((request, response) => response.end(JSON.stringify({ written, longestMs }))).listen(Number(process.env.PORT), '127.0.0.1')
`

describe.runIf(process.getuid?.() === 0)('on a disk that an app fills', () => {
  let disk: SmallDisk
  let platform: Platform
  let hog: TestService
  let neighbour: TestService
  beforeAll(async () => {
    disk = await makeSmallDisk(DISK_BYTES)
    platform = await startPlatform({ CP_DISK_RESERVE_MB: String(RESERVE_MB) }, { parent: disk.dir })
    startDiskGuard(platform.context)
    neighbour = await makeService(platform, { name: 'neighbour' })
    hog = await makeService(platform, { name: 'hog' })
    await neighbour.goLive('hello-js', { 'server.js': neighbourJs })
    await hog.goLive('hello-js', { 'server.js': hogJs })
  }, 60_000)
  afterAll(async () => {
    try {
      await platform.close()
    } finally {
      await disk.close()
    }
  })

  const own = (service: TestService) => servicePathsOf(platform.context.paths, service.id)
  const freeMb = () => {
    const { bavail, bsize } = statfsSync(disk.dir)
    return (bavail * bsize) / MIB
  }
  const report = async () =>
    JSON.parse((await platform.ingress.visit('neighbour.localhost')).text) as { written: number; longestMs: number }
  const failures = async () =>
    (await hog.events()).filter(({ type }) => type === 'server_failed').map(({ details }) => String(details.reason))

  async function fillsUntilStopped(where: 'tmp' | 'home' | 'removed'): Promise<void> {
    const before = (await failures()).length
    const { written } = await report()
    expect((await platform.ingress.visit('hog.localhost', `/${where}`)).text).toBe('filling')
    await until('it is stopped', async () => (await failures()).length > before)
    expect((await failures()).at(-1)).toMatch(
      /^It filled the disk: \d+ MB were left of it, where 100 MB must stay free, and it held \d+ MB/,
    )
    const after = await report()
    expect(after.written).toBeGreaterThan(written)
    expect(after.longestMs).toBeLessThan(5000)
    // The database takes new rows.
    await makeService(platform, { name: `made while ${where} was full` })
  }

  test('one that fills /tmp is stopped and told why, its /tmp is emptied, and it serves again', async () => {
    await fillsUntilStopped('tmp')
    await until('there is space again', () => freeMb() > RESERVE_MB)
    expect(existsSync(join(own(hog).tmp, 'big'))).toBe(false)
    await hog.settles('running')
    expect(readdirSync(own(hog).trash)).toEqual([])
  }, 60_000)

  test('one that fills a file it has removed is found as well', async () => {
    await fillsUntilStopped('removed')
    await hog.settles('running')
  }, 60_000)

  test('one that fills its home stays down until there is space, and then serves again with its files', async () => {
    await fillsUntilStopped('home')
    const big = join(own(hog).home, 'big')
    expect(freeMb()).toBeLessThan(RESERVE_MB)
    const restartsBefore = (await hog.instances())[0]?.restarts
    await Bun.sleep(3000)
    expect((await hog.instances())[0]?.restarts).toBe(restartsBefore)
    rmSync(big)
    await hog.settles('running')
    expect((await neighbour.events()).filter(({ type }) => type === 'server_failed')).toEqual([])
  }, 90_000)

  test('a shell that fills it is ended and told why though nothing else of its service runs, and /tmp is emptied', async () => {
    const serviceDetails = { schedule: '0 0 1 1 *', envSpecificDetails: { startCommand: 'true' } }
    const nightly = await makeService(platform, { name: 'nightly', type: 'cron_job', serviceDetails })
    await nightly.goLive('hello-js')
    expect((await platform.context.engine.list()).filter(({ ownerId }) => ownerId === nightly.id)).toEqual([])
    const shell = await openShell(platform, nightly.id)
    shell.type('cat /dev/zero >/tmp/big\n')
    expect(await shell.closed).toMatchObject({
      code: shellCloseCodes.refused,
      reason: expect.stringContaining('The service filled the disk'),
    })
    await until('there is space again', () => freeMb() > RESERVE_MB)
    expect(existsSync(join(own(nightly).tmp, 'big'))).toBe(false)
    const told = async () => (await nightly.events()).find(({ type }) => type === 'shell_closed')?.details.reason
    expect(await until('its end is written down', told)).toMatch(/^The service filled the disk: \d+ MB were left of it/)
    expect(workloadsOf(platform.context.db, 'service', nightly.id)).toEqual([])
    expect((await hog.events()).concat(await neighbour.events()).filter(({ type }) => type === 'shell_closed')).toEqual([])
  }, 60_000)

  test('a build that fills it fails and is told why, and its folder and cache are gone', async () => {
    const build = {
      'package.json': JSON.stringify({ name: 'big', scripts: { build: 'cat /dev/zero > big; sleep 60', start: 'node server.js' } }),
    }
    const deploy = await hog.ends(await hog.upload('hello-js', build))
    expect(deploy).toMatchObject({ status: 'build_failed', reason: expect.stringContaining('It filled the disk') })
    await until('there is space again', () => freeMb() > RESERVE_MB)
    expect(readdirSync(own(hog).builds)).toEqual([])
  }, 60_000)
})
