import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { diskApp, makeServiceWithDisk, type TestDisk } from '../../../support/disks.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_HEALTH_TIMEOUT_SECONDS: '5' })
})
afterAll(() => platform.close())

const visit = async ({ name }: TestService, path = '/'): Promise<string> => (await platform.ingress.visit(`${name}.localhost`, path)).text
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }

async function liveWithDisk(name: string): Promise<{ service: TestService; disk: TestDisk }> {
  const made = await makeServiceWithDisk(platform, name)
  await made.service.goLive('hello-js', diskApp)
  return made
}

async function comesBack(service: TestService): Promise<void> {
  await until('the service answers', async () => (await platform.ingress.visit(`${service.name}.localhost`, '/where')).status === 200)
}

describe('a snapshot', () => {
  test('brings back the same bytes, modes, owners, links, times and holes', async () => {
    const { service, disk } = await liveWithDisk('restores')
    await visit(service, '/make')
    const hash = await visit(service, '/hash')
    const snapshot = await disk.snapshot()
    expect(snapshot).toMatchObject({ status: 'available', origin: 'manual' })
    expect(snapshot.sizeBytes).toBeLessThan(100 * 1024 ** 2)
    await visit(service, '/put?later=lost')
    const later = await visit(service, '/hash')
    expect(later).not.toBe(hash)

    await disk.restore(snapshot.snapshotKey)
    await comesBack(service)
    expect(await visit(service, '/hash')).toBe(hash)

    const [before] = await disk.snapshots()
    expect(before?.origin).toBe('before_restore')
    await disk.restore(before?.snapshotKey ?? '')
    await comesBack(service)
    expect(await visit(service, '/hash')).toBe(later)
    const types = (await service.events()).map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['disk_created', 'disk_snapshot_created', 'disk_restored']))
  })

  test('of a disk that is written to all the time holds a sound file system, and the app goes on', async () => {
    const { service, disk } = await liveWithDisk('busy')
    let isOver = false
    const writer = (async () => {
      for (let count = 0; !isOver; count++) await visit(service, `/put?file${count % 50}=${'x'.repeat(500)}${count}`)
    })()
    const { status, snapshotKey } = await disk.snapshot()
    isOver = true
    await writer
    expect(status).toBe('available')
    const copy = join(platform.dataDir, 'disks', disk.id, 'snapshots', snapshotKey)
    const { exitCode, stdout } = await runProcess(['e2fsck', '-f', '-n', copy], { env })
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 })
    expect(await visit(service, '/put?after=goes-on')).toBe('put')
  })
})

describe('a disk', () => {
  test('grows with what is on it, and does not shrink', async () => {
    const { service, disk } = await liveWithDisk('grows')
    await visit(service, '/make')
    const hash = await visit(service, '/hash')
    const reply = await disk.ask('', { method: 'PATCH', json: { sizeGB: 2 } })
    expect(reply).toMatchObject({ status: 200, body: { sizeGB: 2, status: 'resizing' } })
    await disk.isAvailable()
    await comesBack(service)
    expect(await visit(service, '/hash')).toBe(hash)
    const image = join(platform.dataDir, 'disks', disk.id, 'image')
    const { stdout } = await runProcess(['dumpe2fs', '-h', image], { env })
    expect(stdout).toMatch(/Block count: +524288/)
    const smaller = await disk.ask<{ message: string }>('', { method: 'PATCH', json: { sizeGB: 1 } })
    expect(smaller.status).toBe(400)
    expect(smaller.body.message).toContain('cannot shrink')
    const larger = await disk.ask<{ message: string }>('', { method: 'PATCH', json: { sizeGB: 60_000 } })
    expect(larger.status).toBe(400)
    expect(larger.body.message).toMatch(/at most \d+ GB/)
  })

  test('of a deleted service is kept, and can be given to another, whose files they then are', async () => {
    const { service, disk } = await liveWithDisk('leaves')
    await visit(service, '/put?kept=yes')
    await service.ask('', { method: 'DELETE' })
    await until('it is gone', () => platform.db.query('SELECT id FROM services WHERE id = ?').get(service.id) === null)
    expect(await disk.read()).toMatchObject({ serviceId: service.id, expiresAt: expect.any(String) })
    const heir = await makeService(platform, { name: 'heir' })
    const given = await disk.ask('', { method: 'PATCH', json: { serviceId: heir.id, mountPath: '/srv/heirloom' } })
    expect(given).toMatchObject({ status: 200, body: { serviceId: heir.id } })
    expect((await disk.isAvailable()).expiresAt).toBeUndefined()
    await heir.goLive('hello-js', diskApp)
    expect(await visit(heir, '/get?kept')).toBe('yes')
    expect(await visit(heir, '/put?kept=changed')).toBe('put')
    const { uid } = platform.db.query<{ uid: number }, [string]>('SELECT uid FROM services WHERE id = ?').get(heir.id) ?? {}
    expect(JSON.parse(await visit(heir, '/where'))).toMatchObject({ root: '/srv/heirloom', uid })
  })
})
