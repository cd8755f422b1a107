import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { volumeIn } from '../../../../server/engines/fake/machine.ts'
import { diskOf, type TestDisk } from '../../../support/disks.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const DAY_MS = 24 * 60 * 60_000

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform()
})
afterAll(() => platform.close())

/** A worker, which is healthy without a port. */
const makeWorker = (name: string, details: Record<string, unknown> = {}) =>
  makeService(platform, {
    name,
    type: 'background_worker',
    serviceDetails: { runtime: 'node', envSpecificDetails: { buildCommand: 'exit 0', startCommand: 'get note; serve' }, ...details },
  })

async function make(name: string): Promise<{ service: TestService; disk: TestDisk }> {
  const service = await makeWorker(name, { disk: { name: 'data', mountPath: '/var/data', sizeGB: 1 } })
  const { body } = await service.ask<{ serviceDetails: { disk: { id: string } } }>('')
  const disk = diskOf(platform, body.serviceDetails.disk.id)
  await disk.isAvailable()
  return { service, disk }
}

async function liveWithDisk(name: string): Promise<{ service: TestService; disk: TestDisk }> {
  const made = await make(name)
  await made.service.goLive('hello-js')
  return made
}

const poke = ({ id }: TestDisk) => platform.context.work.poke('disk', id)
const filesOn = ({ id }: TestDisk) => volumeIn(platform.machine, id).files
const snapshotsOn = ({ id }: TestDisk) => [...volumeIn(platform.machine, id).snapshots.keys()].sort()
const typesOf = async (service: TestService) => (await service.events()).map(({ type }) => type)
const deletedFor = async (service: TestService) => {
  await service.ask('', { method: 'DELETE' })
  await until('it is gone', () => platform.db.query('SELECT id FROM services WHERE id = ?').get(service.id) === null)
}

describe('a disk', () => {
  test('is found by the program of its service, and holds what it wrote through restarts', async () => {
    const { service, disk } = await liveWithDisk('keeps')
    filesOn(disk).set('note', 'still here')
    const [before] = await service.settles('running')
    await service.ask('/restart', { method: 'POST' })
    const [after] = await until('another runs', async () => {
      const now = await service.instances()
      return now.length === 1 && now[0]?.id !== before?.id && now
    })
    await until('it has read', () => platform.machine.output(after?.id ?? '') === 'still here\n')
  })

  test('that the engine refuses to make is told of once for each reason, and made as soon as it can be', async () => {
    platform.machine.faults.inject('volumes.make', { kind: 'refused' }, 3)
    const { service } = await make('waits')
    const failures = (await service.events()).filter(({ type }) => type === 'disk_create_failed')
    expect(failures.map(({ details }) => details)).toEqual([expect.objectContaining({ reason: expect.stringContaining('refuses') })])
  })

  test('that was made, though its maker was not told, is made once', async () => {
    platform.machine.faults.inject('volumes.make', { kind: 'lost' })
    const { service, disk } = await make('told-late')
    expect((await typesOf(service)).filter((type) => type === 'disk_created')).toHaveLength(1)
    expect(volumeIn(platform.machine, disk.id).sizeGb).toBe(1)
  })

  test('that cannot grow keeps its size, and says why', async () => {
    const { service, disk } = await liveWithDisk('grows-not')
    platform.machine.faults.inject('volumes.grow', { kind: 'refused' })
    await disk.ask('', { method: 'PATCH', json: { sizeGB: 2 } })
    expect((await disk.isAvailable()).sizeGB).toBe(1)
    expect(await typesOf(service)).toContain('disk_resize_failed')
    await service.settles('running')
    await disk.ask('', { method: 'PATCH', json: { sizeGB: 2 } })
    expect((await disk.isAvailable()).sizeGB).toBe(2)
    expect(volumeIn(platform.machine, disk.id).sizeGb).toBe(2)
  })

  test('that nobody wants any more is removed when its time is over', async () => {
    const { service, disk } = await make('expires')
    await deletedFor(service)
    platform.db.query('UPDATE disks SET kept_until = ? WHERE id = ?').run(Date.now() - 1, disk.id)
    poke(disk)
    await until('the disk is gone', async () => (await disk.ask()).status === 404)
    await until('its volume, too', () => !platform.machine.volumes.has(disk.id))
  })

  test('that is deleted leaves its service running without it', async () => {
    const { service, disk } = await liveWithDisk('goes-on')
    expect((await disk.ask('', { method: 'DELETE' })).status).toBe(204)
    await until('its volume is gone', () => !platform.machine.volumes.has(disk.id))
    const [instance] = await service.settles('running')
    expect(platform.machine.runs.get(instance?.id ?? '')?.volumeId).toBeUndefined()
    expect((await service.ask<{ serviceDetails: object }>('')).body.serviceDetails).toMatchObject({ deployStrategy: 'rolling' })
    expect(platform.db.query('SELECT id FROM disks WHERE id = ?').get(disk.id)).toBeNull()
    expect((await diskOf(platform, disk.id).ask()).status).toBe(404)
  })

  test('of a deleted service belongs to the one that it is given to', async () => {
    const { service, disk } = await liveWithDisk('leaves')
    filesOn(disk).set('note', 'kept')
    await deletedFor(service)
    const heir = await makeWorker('heir')
    await disk.ask('', { method: 'PATCH', json: { serviceId: heir.id } })
    expect((await disk.isAvailable()).expiresAt).toBeUndefined()
    expect(volumeIn(platform.machine, disk.id).owner).toMatchObject({ id: heir.id })
    expect(filesOn(disk).get('note')).toBe('kept')
  })
})

describe('a snapshot', () => {
  test('that cannot be taken leaves nothing but the reason', async () => {
    const { service, disk } = await liveWithDisk('fails')
    platform.machine.faults.inject('volumes.snapshot', { kind: 'refused' })
    expect(await disk.snapshot()).toMatchObject({ status: 'failed', reason: expect.stringContaining('refuses') })
    platform.machine.faults.inject('volumes.snapshot', { kind: 'lost' })
    expect(await disk.snapshot()).toMatchObject({ status: 'failed' })
    expect(snapshotsOn(disk)).toEqual([])
    expect(await typesOf(service)).toContain('disk_snapshot_failed')
    await service.settles('running')
  })

  test('is removed with its files, and one that is none of the disk is not found', async () => {
    const { disk } = await liveWithDisk('removes')
    const { snapshotKey } = await disk.snapshot()
    expect(snapshotsOn(disk)).toEqual([snapshotKey])
    const other = await disk.ask(`/snapshots/restore`, { method: 'POST', json: { snapshotKey: 'snp-00000000000000000000' } })
    expect(other.status).toBe(404)
    expect((await disk.ask(`/snapshots/${snapshotKey}`, { method: 'DELETE' })).status).toBe(204)
    await until('its files are gone', () => snapshotsOn(disk).length === 0)
    expect(await disk.snapshots()).toEqual([])
  })

  test('is taken daily, and old ones go', async () => {
    const { disk } = await make('daily')
    platform.db.query('UPDATE disks SET created_at = ? WHERE id = ?').run(Date.now() - DAY_MS - 1, disk.id)
    poke(disk)
    const [daily] = await until('the daily one is there', async () => {
      const now = await disk.snapshots()
      return now[0]?.status === 'available' && now
    })
    expect(await disk.snapshots()).toMatchObject([{ origin: 'daily' }])
    platform.db.query('UPDATE disk_snapshots SET created_at = ? WHERE disk_id = ?').run(Date.now() - 8 * DAY_MS, disk.id)
    poke(disk)
    await until('the old one is gone, for another', async () => {
      const now = await disk.snapshots()
      return now.length === 1 && now[0]?.status === 'available' && now[0].snapshotKey !== daily?.snapshotKey
    })
    expect(snapshotsOn(disk)).toEqual((await disk.snapshots()).map(({ snapshotKey }) => snapshotKey))
  })

  test('is restored, and what cannot be restored leaves everything as it was', async () => {
    const { service, disk } = await liveWithDisk('restores')
    filesOn(disk).set('note', 'first')
    const { snapshotKey } = await disk.snapshot()
    filesOn(disk).set('note', 'second')
    for (const call of ['volumes.prepareRestore', 'volumes.restore'] as const) {
      platform.machine.faults.inject(call, { kind: 'refused' })
      await disk.restore(snapshotKey)
      expect(filesOn(disk).get('note')).toBe('second')
    }
    expect((await typesOf(service)).filter((type) => type === 'disk_restore_failed')).toHaveLength(2)
    // Once it has taken effect there is no way back, and it is asked for again.
    platform.machine.faults.inject('volumes.restore', { kind: 'lost' })
    await disk.restore(snapshotKey)
    expect(filesOn(disk).get('note')).toBe('first')
    const [before] = await disk.snapshots()
    expect(before?.origin).toBe('before_restore')
    await disk.restore(before?.snapshotKey ?? '')
    expect(filesOn(disk).get('note')).toBe('second')
  })
})

describe('a stop-first deploy', () => {
  test('that fails brings the old release back by itself', async () => {
    const { service, disk } = await liveWithDisk('returns')
    const [before] = await service.settles('running')
    await service.ask('', { method: 'PATCH', json: { serviceDetails: { envSpecificDetails: { startCommand: 'exit 3' } } } })
    const failed = await service.ends(await service.upload('hello-js'))
    expect(failed).toMatchObject({ status: 'update_failed', rollout: { strategy: 'stop_first' } })
    const [after] = await service.settles('running')
    expect(after?.id).not.toBe(before?.id)
    expect(platform.machine.runs.get(after?.id ?? '')?.volumeId).toBe(disk.id)
  })

  test('never has two instances with the disk at once', async () => {
    const { service, disk } = await liveWithDisk('alone')
    const { rollout } = await service.goLive('hello-js', { 'note.txt': 'other' })
    expect(rollout).toMatchObject({ strategy: 'stop_first', gapMs: expect.any(Number) })
    expect((await service.ask('')).body).toMatchObject({
      serviceDetails: { deployStrategy: 'stop_first', disk: { name: 'data', sizeGB: 1, mountPath: '/var/data' } },
    })
    await service.ask('/restart', { method: 'POST' })
    await until('another has it', () => volumeIn(platform.machine, disk.id).users.size === 3)
    const users = [...volumeIn(platform.machine, disk.id).users].sort((one, other) => one.startedAt - other.startedAt)
    for (const [index, later] of users.slice(1).entries()) expect(users[index]?.end?.at).toBeLessThanOrEqual(later.startedAt)
  })
})
