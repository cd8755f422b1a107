import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyContent } from '../../../../server/engines/process/volumes/copy.ts'
import { canGrowMounted } from '../../../../server/engines/process/volumes/grow.ts'
import { loopDeviceOf } from '../../../../server/engines/process/volumes/loop-device.ts'
import { withMountedImage } from '../../../../server/engines/process/volumes/mounted-image.ts'
import { placesOf } from '../../../../server/engines/process/volumes/places.ts'
import { openVolumes, type ProcessVolumes, type Room } from '../../../../server/engines/process/volumes/volumes.ts'
import { AppError } from '../../../../shared/error.ts'
import { until } from '../../world.ts'
import { ampleRoom, makeVolumesWorld } from './world.ts'

const NEVER = new AbortController().signal
const hasLoopDevices = process.getuid?.() === 0 && existsSync('/dev/loop-control')

describe.runIf(hasLoopDevices)('an image', { timeout: 60_000 }, () => {
  const world = makeVolumesWorld('image')
  let volumes: ProcessVolumes
  beforeAll(async () => {
    volumes = await world.open()
  })
  afterAll(() => world.dispose())

  const make = () => world.make(volumes)
  const isFree = (image: string) => until('its loop device is free', () => loopDeviceOf(image) === undefined)

  test('that stands still goes on when whoever held it back is done, and leaves no mount and no device', async () => {
    const { image, mountPoint } = (await make()).places
    await withMountedImage({ source: image, mountPoint }, async ({ run, freeze }) => {
      expect(loopDeviceOf(image)).toMatch(/^\/dev\/loop\d+$/)
      await freeze()
      await expect(run(['fsfreeze', '--freeze', mountPoint])).rejects.toThrow('fsfreeze')
    })
    expect(readdirSync(mountPoint)).toEqual([])
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(mountPoint)
    await isFree(image)
    await withMountedImage({ source: image, mountPoint }, ({ run }) => run(['touch', `${mountPoint}/data/a`]))
  })

  test('whose holder goes while it is being held back goes on', async () => {
    const { image, mountPoint } = (await make()).places
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

  test('tells by its time that it was mounted, though nothing was written to it', async () => {
    const { image, mountPoint } = (await make()).places
    const before = statSync(image, { bigint: true }).mtimeNs
    await withMountedImage({ source: image, mountPoint }, ({ run }) => run(['true']))
    await isFree(image)
    expect(statSync(image, { bigint: true }).mtimeNs).toBeGreaterThan(before)
  })

  test('is not copied where it did not keep still, and nothing is left of the copy', async () => {
    const { places } = await make()
    const copy = { from: places.image, to: join(places.snapshots, 'snp-a'), isImage: true, isStill: () => false }
    expect(await copyContent(copy)).toBe(false)
    expect(readdirSync(places.snapshots)).toEqual([])
  })

  test('is copied again where somebody mounted it and wrote to it while it was copied', async () => {
    const { id, places } = await make()
    const { image, mountPoint } = places
    await world.write(id, 'file', 'before')
    let writes = 0
    // Asked as the copy begins, and whenever it is looked whether there is still room.
    const meddling: Room = {
      ...ampleRoom,
      whileThereIs: async (_, act) => {
        const copying = act(NEVER)
        await withMountedImage({ source: image, mountPoint }, async ({ run }) => {
          await run(['touch', `${mountPoint}/data/meanwhile`])
          writes += 1
        })
        return await copying
      },
    }
    await (await world.open(meddling)).snapshot(id, 'snp-a', NEVER)
    expect(writes).toBe(1)
    await isFree(image)
    await volumes.restore(id, { key: 'snp-a', keepAs: 'snp-before', sizeGb: 1 })
    expect(await world.read(id, 'file')).toBe('before')
    // The machine checks it before it is mounted, and would find what is half written.
    expect(await volumes.open(id)).toEqual({ source: image, isImage: true })
  })

  test('is copied while it is mounted, sound as it is', async () => {
    const { id, places } = await make()
    await world.write(id, 'file', 'written')
    const other = join(places.root, 'elsewhere')
    mkdirSync(other)
    await withMountedImage({ source: places.image, mountPoint: other }, async ({ run }) => {
      await run(['touch', `${other}/data/late`])
      await volumes.snapshot(id, 'snp-a', NEVER)
      await run(['timeout', '30', 'touch', `${other}/data/later`])
    })
    await isFree(places.image)
    await volumes.restore(id, { key: 'snp-a', keepAs: 'snp-before', sizeGb: 1 })
    expect(await world.read(id, 'file')).toBe('written')
    expect(await volumes.open(id)).toEqual({ source: places.image, isImage: true })
  })

  test.runIf(canGrowMounted())('grows while it is mounted, under whoever writes to it, and again the same', async () => {
    const { id, places } = await make()
    const other = join(places.root, 'elsewhere')
    mkdirSync(other)
    await withMountedImage({ source: places.image, mountPoint: other }, async ({ run }) => {
      await run(['touch', `${other}/data/before`])
      await volumes.grow(id, { fromGb: 1, toGb: 2 })
      await volumes.grow(id, { fromGb: 1, toGb: 2 })
      // More than there was room for before.
      await run(['fallocate', '--length', '1500MiB', `${other}/data/large`])
      await expect(volumes.grow(id, { fromGb: 2, toGb: 60_000 })).rejects.toBeInstanceOf(AppError)
      await run(['touch', `${other}/data/after`])
    })
    await isFree(places.image)
    expect(statSync(places.image).size).toBe(2 * 1024 ** 3)
    expect(await volumes.open(id)).toEqual({ source: places.image, isImage: true })
  })

  test('that cannot grow for want of room keeps its former size', async () => {
    const { id, places } = await make()
    await expect(volumes.grow(id, { fromGb: 1, toGb: 60_000 })).rejects.toBeInstanceOf(AppError)
    expect(statSync(places.image).size).toBe(1024 ** 3)
    expect(await world.read(id, 'nothing')).toBeUndefined()
  })

  test('is known in the middle of a restore, when its content is not in its place', async () => {
    const { id, places } = await make()
    await world.write(id, 'file', 'old')
    const restore = { key: 'snp-a', keepAs: 'snp-before', sizeGb: 1 }
    await volumes.snapshot(id, restore.key, NEVER)
    await world.write(id, 'file', 'now')
    await volumes.prepareRestore(id, restore)
    renameSync(places.image, join(places.snapshots, restore.keepAs))
    expect(await volumes.isInUse(id)).toBe(false)
    await volumes.restore(id, restore)
    expect(await world.read(id, 'file')).toBe('old')
  })

  test('is opened by no machine that cannot mount it', async () => {
    const { id, places } = await make()
    const elsewhere = openVolumes({ dir: dirname(places.root), mounts: 'folders', needed: [], room: ampleRoom })
    await expect(elsewhere.open(id)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('cannot mount any more'),
    })
    expect(placesOf(dirname(places.root), id)).toEqual(places)
  })
})
