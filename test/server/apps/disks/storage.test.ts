import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepDisks } from '../../../../server/apps/disk-work/sweep.ts'
import { loopDeviceOf } from '../../../../server/apps/disks/loop-device.ts'
import { withMountedImage } from '../../../../server/apps/disks/mounted-image.ts'
import { diskPathsOf } from '../../../../server/apps/disks/paths.ts'
import { copyContent, makeStorage, restoreStorage } from '../../../../server/apps/disks/storage.ts'
import { diskById, type StoredDisk } from '../../../../server/apps/disks/store.ts'
import { diskEnv, diskForInstance, placeOfDisk } from '../../../../server/apps/disks/workload.ts'
import type { Capabilities } from '../../../../server/engines/port/port.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { idleEngine } from '../../../support/idle-parts.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const UID = 61_500

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  mkdirSync(server.context.paths.disks, { recursive: true })
})
afterAll(() => server.close())

let count = 0
const newDisk = (changes: Partial<StoredDisk> = {}): StoredDisk => ({
  id: `dsk-${String(++count).padStart(20, '0')}`,
  workspaceId: 'tea-1',
  serviceId: 'srv-1',
  name: 'data',
  mountPath: '/var/data',
  sizeGb: 1,
  isImage: false,
  status: 'creating',
  growToGb: null,
  restoreKey: null,
  replacedKey: null,
  uid: UID,
  deletedAt: null,
  keptUntil: null,
  createdAt: 0,
  updatedAt: 0,
  ...changes,
})
const pathsOf = (disk: StoredDisk) => diskPathsOf(server.context.paths, disk.id)

describe('a folder', () => {
  test("is its service's alone, who can pass through to it and list nothing above", async () => {
    const disk = newDisk()
    await makeStorage(server.context.paths, disk)
    const modes = [pathsOf(disk).root, pathsOf(disk).folder, pathsOf(disk).snapshots].map((path) => {
      const { mode, uid, gid } = statSync(path)
      return [mode & 0o777, uid, gid]
    })
    expect(modes).toEqual([
      [0o710, 0, UID],
      [0o700, UID, UID],
      [0o700, 0, 0],
    ])
  })

  test('that was begun and not finished is made anew, one that is there is left alone', async () => {
    const disk = newDisk()
    mkdirSync(`${pathsOf(disk).folder}.new`, { recursive: true })
    await makeStorage(server.context.paths, disk)
    writeFileSync(join(pathsOf(disk).folder, 'kept'), '')
    await makeStorage(server.context.paths, disk)
    expect(readdirSync(pathsOf(disk).root).sort()).toEqual(['data', 'mount', 'snapshots'])
    expect(readdirSync(pathsOf(disk).folder)).toEqual(['kept'])
  })

  test('is restored in steps, each of which can be the last before a crash', async () => {
    const disk = newDisk()
    await makeStorage(server.context.paths, disk)
    const { folder, snapshots } = pathsOf(disk)
    const keys = { snapshot: 'snp-old', replaced: 'snp-before' }
    const text = (path: string) => readFileSync(join(path, 'file'), 'utf8')
    writeFileSync(join(folder, 'file'), 'old')
    await copyContent(disk, { from: folder, to: join(snapshots, keys.snapshot) })
    writeFileSync(join(folder, 'file'), 'now')
    // Killed while the copy was made.
    mkdirSync(`${folder}.ready.new`)
    await restoreStorage(server.context.paths, disk, keys)
    expect([text(folder), text(join(snapshots, keys.replaced))]).toEqual(['old', 'now'])
    // Killed before it was written down that it is done.
    writeFileSync(join(folder, 'file'), 'later')
    await restoreStorage(server.context.paths, disk, keys)
    expect([text(folder), text(join(snapshots, keys.replaced))]).toEqual(['later', 'now'])
    expect(readdirSync(pathsOf(disk).root).sort()).toEqual(['data', 'mount', 'snapshots'])
  })

  test('is copied with what it leads to left alone', async () => {
    const disk = newDisk()
    await makeStorage(server.context.paths, disk)
    const { folder, snapshots } = pathsOf(disk)
    symlinkSync('/etc/shadow', join(folder, 'link'))
    await copyContent(disk, { from: folder, to: join(snapshots, 'snp-a') })
    expect(statSync(join(snapshots, 'snp-a')).isDirectory()).toBe(true)
    await expect(copyContent(disk, { from: join(folder, 'missing'), to: join(snapshots, 'snp-b') })).rejects.toThrow('could not be opened')
    expect(readdirSync(snapshots)).toEqual(['snp-a'])
  })

  test("is copied with its owner's rights: all that is the owner's, and nothing that is another's", async () => {
    const disk = newDisk()
    await makeStorage(server.context.paths, disk)
    const { folder, snapshots } = pathsOf(disk)
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    writeFileSync(join(closed, 'file'), 'mine')
    for (const [path, mode] of [
      [join(closed, 'file'), 0],
      [closed, 0],
    ] as const) {
      chownSync(path, UID, UID)
      chmodSync(path, mode)
    }
    await copyContent(disk, { from: folder, to: join(snapshots, 'snp-a') })
    expect(readFileSync(join(snapshots, 'snp-a/closed/file'), 'utf8')).toBe('mine')
    const copied = ['', 'closed', 'closed/file'].map((path) => statSync(join(snapshots, 'snp-a', path)))
    expect(copied.map(({ uid, gid, mode }) => [uid, gid, mode & 0o777])).toEqual([
      [UID, UID, 0o700],
      [UID, UID, 0],
      [UID, UID, 0],
    ])
    writeFileSync(join(folder, 'of-root'), 'secret', { mode: 0o600 })
    await expect(copyContent(disk, { from: folder, to: join(snapshots, 'snp-b') })).rejects.toThrow('Permission denied')
    expect(readdirSync(snapshots)).toEqual(['snp-a'])
  })
})

test('an image that stands still goes on when whoever held it back is done, and leaves no mount and no device', async () => {
  const disk = newDisk({ isImage: true })
  await makeStorage(server.context.paths, disk)
  const { image, mountPoint } = pathsOf(disk)
  await withMountedImage({ source: image, mountPoint }, async ({ run, freeze }) => {
    expect(loopDeviceOf(image)).toMatch(/^\/dev\/loop\d+$/)
    await freeze()
    await expect(run(['fsfreeze', '--freeze', mountPoint])).rejects.toThrow('fsfreeze')
  })
  expect(readdirSync(mountPoint)).toEqual([])
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(mountPoint)
  for (let tries = 0; loopDeviceOf(image) !== undefined && tries < 200; tries++) await Bun.sleep(10)
  expect(loopDeviceOf(image)).toBeUndefined()
  await withMountedImage({ source: image, mountPoint }, ({ run }) => run(['touch', `${mountPoint}/data/a`]))
})

test('an image whose holder goes while it is being held back goes on', async () => {
  const disk = newDisk({ isImage: true })
  await makeStorage(server.context.paths, disk)
  const { image, mountPoint } = pathsOf(disk)
  const other = join(dirname(image), 'seen-elsewhere')
  mkdirSync(other)
  await withMountedImage({ source: image, mountPoint }, async () => {
    const device = loopDeviceOf(image) ?? ''
    let held: Promise<unknown> = Promise.resolve()
    // The word to hold it back is given, and nobody waits for the answer, as after a kill.
    await withMountedImage({ source: device, mountPoint: other }, async ({ freeze }) => {
      held = freeze().catch(() => undefined)
    })
    await held
    await withMountedImage({ source: device, mountPoint: other }, ({ run }) => run(['timeout', '30', 'touch', `${other}/data/a`]))
  })
})

test('folders of disks that nobody knows are removed, and nothing else', async () => {
  const { disks } = server.context.paths
  const stray = newDisk()
  await makeStorage(server.context.paths, stray)
  mkdirSync(join(disks, 'lost+found'))
  await sweepDisks(server.context)
  expect(readdirSync(disks)).toEqual(['lost+found'])
})

describe('an instance', () => {
  const facts = (volumes: Capabilities['volumes']) => ({
    ...server.context,
    engine: { ...idleEngine, capabilities: { ...idleEngine.capabilities, volumes } },
  })
  async function serviceWithDisk(): Promise<{ serviceId: string; id: string }> {
    const serviceId = await createService(server, { name: `svc-${++count}` })
    const json = { serviceId, name: 'data', mountPath: '/var/data', sizeGB: 1 }
    const { body } = await call<{ id: string }>(`${server.url}/v1/disks`, { json, token: server.adminToken })
    return { serviceId, id: body.id }
  }

  test('is told where its disk is, where it cannot be mounted', async () => {
    const { serviceId, id } = await serviceWithDisk()
    await expect(diskForInstance(facts('folders'), serviceId)).rejects.toThrow('is creating')
    server.db.query("UPDATE disks SET status = 'available' WHERE id = ?").run(id)
    const source = diskPathsOf(server.context.paths, id).folder
    expect(await diskForInstance(facts('folders'), serviceId)).toEqual({ volume: { volumeId: id, mountPath: '/var/data' } })
    expect(placeOfDisk(server.context.paths, diskById(server.db, id))).toEqual({ source, isImage: false })
    expect(diskEnv(facts('folders'), serviceId)).toEqual({ CPD_DISK_PATH: '/var/data' })
    expect(diskEnv(facts('nowhere'), serviceId)).toEqual({ CPD_DISK_PATH: source })
    server.db.query('UPDATE disks SET is_image = 1 WHERE id = ?').run(id)
    await expect(diskForInstance(facts('folders'), serviceId)).rejects.toThrow('cannot mount any more')
  })

  test('of a service without a disk is given none', async () => {
    expect(await diskForInstance(server.context, await createService(server, { name: 'bare' }))).toEqual({})
  })
})
