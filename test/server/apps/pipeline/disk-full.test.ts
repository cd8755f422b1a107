import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathsOf, servicePathsOf } from '../../../../server/platform/paths.ts'
import { packApp, upload } from '../../../support/apps.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const MIB = 1024 * 1024
const FREE_BYTES = 32 * MIB

describe.runIf(process.getuid?.() === 0)('on a full disk', () => {
  let plane: ControlPlane
  let service: TestService
  beforeAll(async () => {
    // The toolchain is a copy of the executable, as it lies on another disk.
    plane = await startControlPlane({}, { diskBytes: statSync(process.execPath).size + FREE_BYTES })
    service = await makeService(plane, { name: 'full' })
    await service.goLive('hello-js', { VERSION: 'old' })
  })
  afterAll(async () => {
    try {
      await service.ask('', { method: 'DELETE' })
      await until('the service is gone', () => readdirSync(join(plane.dataDir, 'services')).length === 0)
    } finally {
      await plane.close()
    }
  })

  const own = () => servicePathsOf(pathsOf(plane.dataDir), service.id)
  const visit = async () => (await plane.ingress.visit('full.localhost')).text

  test('a build that fills it fails, leaves nothing, and the old release serves', async () => {
    const build = { 'package.json': JSON.stringify({ name: 'big', scripts: { build: 'cat /dev/zero > big', start: 'node server.js' } }) }
    const deploy = await service.ends(await service.upload('hello-js', build))
    expect(deploy.status).toBe('build_failed')
    await until('the build folder is gone', () => readdirSync(own().builds).length === 0)
    expect(await visit()).toBe('hello-js old\n')
  })

  test('a source that finds no room to be unpacked is refused, and leaves nothing', async () => {
    const { status, body } = await upload<{ message: string }>(
      plane,
      service.id,
      await packApp('hello-js', { filler: randomBytes(FREE_BYTES / 2).toString('base64') }),
    )
    expect(status).toBe(503)
    // Whoever sees it first says so: the look at the reserve, or the write that found no block.
    expect(body.message).toMatch(/There is no room for the upload|disk is full/)
    expect(readdirSync(pathsOf(plane.dataDir).uploads)).toEqual([])
  })

  test('a build that finds no room fails saying so, and the next one succeeds when there is some again', async () => {
    const filler = join(plane.dataDir, 'filler')
    const { body } = await upload(plane, service.id, await packApp('hello-js', { VERSION: 'new', filler: 'x'.repeat(6 * MIB) }), {
      query: '?deploy=false',
    })
    // Its unpacked files are gone, since no deploy followed at once: the build has to unpack the archive again.
    expect(existsSync(join(own().builds, body.source.id))).toBe(false)
    const { bavail, bsize } = statfsSync(plane.dataDir)
    writeFileSync(filler, new Uint8Array(bavail * bsize - 3 * MIB))
    const ask = async () => (await service.ask<{ id: string }>('/deploys', { method: 'POST', json: { sourceId: body.source.id } })).body.id
    expect(await service.ends(await ask())).toMatchObject({
      status: 'build_failed',
      reason: expect.stringContaining('There is no room for a build'),
    })
    expect(await visit()).toBe('hello-js old\n')
    rmSync(filler)
    expect(await service.ends(await ask())).toMatchObject({ status: 'live' })
    expect(await visit()).toBe('hello-js new\n')
  })
})
