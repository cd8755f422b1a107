import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NewVolume, Volumes } from '../../server/engines/port/volumes.ts'
import type { VolumesWorld } from './volumes-world.ts'
import { until } from './world.ts'

const NEVER = new AbortController().signal
const TIMEOUT_MS = 60_000

/** What volumes of every engine promise, wherever they stand. */
export function describeVolumes(name: string, makeWorld: () => VolumesWorld): void {
  describe(name, () => volumesContract(makeWorld))
}

function volumesContract(makeWorld: () => VolumesWorld): void {
  let world: VolumesWorld
  let volumes: Volumes

  beforeEach(async () => {
    world = makeWorld()
    volumes = await world.open()
  })
  afterEach(() => world.dispose())

  const make = async (text = 'first'): Promise<NewVolume> => {
    const volume = world.newVolume()
    await volumes.make(volume)
    await world.write(volume.id, 'file', text)
    return volume
  }
  const textIn = ({ id }: NewVolume) => world.read(id, 'file')

  describe('a volume', { timeout: TIMEOUT_MS }, () => {
    test('is made once: what is on it stays when it is made again, and a later control plane knows it', async () => {
      const volume = await make()
      await volumes.make(volume)
      expect(await textIn(volume)).toBe('first')
      const later = await world.open()
      expect(await later.list()).toEqual([volume.id])
      await later.make(volume)
      expect(await textIn(volume)).toBe('first')
    })

    test('is of a kind that workloads can be given', async () => {
      expect(volumes.capabilities.kinds.map((kind) => kind.name)).toContain(world.newVolume().kind)
    })

    test('is removed with its snapshots, and nothing happens the second time', async () => {
      const [volume, other] = [await make(), await make('other')]
      await volumes.snapshot(volume.id, 'snp-a', NEVER)
      await volumes.remove(volume.id)
      await volumes.remove(volume.id)
      expect(await volumes.list()).toEqual([other.id])
      await volumes.make(volume)
      expect(await textIn(volume)).toBeUndefined()
      await expect(volumes.prepareRestore(volume.id, { key: 'snp-a', sizeGb: 1 })).rejects.toMatchObject({ code: 'unavailable' })
      expect(await textIn(other)).toBe('other')
    })

    test('grows with what is on it, and stays so when that is done again', async () => {
      const volume = await make()
      await volumes.grow(volume.id, { fromGb: 1, toGb: 2 })
      await volumes.grow(volume.id, { fromGb: 1, toGb: 2 })
      expect(await textIn(volume)).toBe('first')
    })

    test('is given to another owner with what is on it, twice as well as once', async () => {
      const volume = await make()
      const owner = { ...volume.owner, ownerId: 'srv-two', number: volume.owner.number + 1 }
      await volumes.give(volume.id, owner)
      await volumes.give(volume.id, owner)
      expect(await textIn(volume)).toBe('first')
    })

    test('is in use for as long as the machine holds it', async () => {
      const volume = await make()
      expect(await volumes.isInUse(volume.id)).toBe(false)
      const letGo = await world.hold(volume.id)
      if (letGo === undefined) return
      expect(await volumes.isInUse(volume.id)).toBe(true)
      await letGo()
      await until('it is let go', async () => !(await volumes.isInUse(volume.id)))
    })

    test('tells what is on it in bytes and files', async () => {
      const volume = await make()
      for (const unit of ['bytes', 'files'] as const) expect(await volumes.usage(volume.id, unit, NEVER)).toBeGreaterThan(0)
    })

    test('is found at the path that is asked for, or at one of its own', async () => {
      const { id } = await make()
      expect(volumes.pathOf({ volumeId: id, mountPath: '/var/data' })).toMatch(/^\//)
      expect(volumes.pathProblem('/var/data')).toBeUndefined()
      expect(volumes.roomBytes()).toBeGreaterThan(0)
    })

    test.each(['', '.', '..', '../other', 'a/b', '/etc', 'a\0b', 'x'.repeat(200)])(
      'has no id like %j, which may lead elsewhere',
      async (id) => {
        const volume = world.newVolume({ id })
        const [restore, refused] = [{ key: 'snp-a', sizeGb: 1 }, { code: 'validation_failed' }]
        const acts = [
          () => volumes.make(volume),
          () => volumes.grow(id, { fromGb: 1, toGb: 2 }),
          () => volumes.give(id, volume.owner),
          () => volumes.isInUse(id),
          () => volumes.usage(id, 'bytes', NEVER),
          () => volumes.snapshot(id, 'snp-a', NEVER),
          () => volumes.compactSnapshot(id, 'snp-a', NEVER),
          () => volumes.listSnapshots(id),
          () => volumes.removeSnapshot(id, 'snp-a'),
          () => volumes.prepareRestore(id, restore),
          () => volumes.restore(id, { ...restore, keepAs: 'snp-b' }),
          () => volumes.remove(id),
        ]
        for (const act of acts) await expect(act()).rejects.toMatchObject(refused)
      },
    )
  })

  describe('a snapshot', { timeout: TIMEOUT_MS }, () => {
    const [key, keepAs] = ['snp-a', 'snp-before']
    const restore = { key, keepAs, sizeGb: 1 }

    test('brings back what was there, and what it replaces is kept as another', async () => {
      const volume = await make()
      expect(await volumes.snapshot(volume.id, key, NEVER)).toBeGreaterThan(0)
      await world.write(volume.id, 'file', 'second')
      await volumes.prepareRestore(volume.id, restore)
      expect(await textIn(volume)).toBe('second')
      await volumes.restore(volume.id, restore)
      expect(await textIn(volume)).toBe('first')
      await volumes.restore(volume.id, { key: keepAs, keepAs: 'snp-later', sizeGb: 1 })
      expect(await textIn(volume)).toBe('second')
    })

    test('is restored once, however often that is asked for', async () => {
      const volume = await make()
      await volumes.snapshot(volume.id, key, NEVER)
      await world.write(volume.id, 'file', 'second')
      await volumes.prepareRestore(volume.id, restore)
      await volumes.prepareRestore(volume.id, restore)
      await volumes.restore(volume.id, restore)
      await world.write(volume.id, 'file', 'third')
      await (await world.open()).restore(volume.id, restore)
      expect(await textIn(volume)).toBe('third')
    })

    test('is restored without having been prepared, into a volume that has grown since', async () => {
      const volume = await make()
      await volumes.snapshot(volume.id, key, NEVER)
      await volumes.grow(volume.id, { fromGb: 1, toGb: 2 })
      await world.write(volume.id, 'file', 'second')
      await volumes.restore(volume.id, { ...restore, sizeGb: 2 })
      expect(await textIn(volume)).toBe('first')
    })

    test('that is asked for again is the one that is there', async () => {
      const volume = await make()
      const bytes = await volumes.snapshot(volume.id, key, NEVER)
      await world.write(volume.id, 'file', 'second')
      expect(await (await world.open()).snapshot(volume.id, key, NEVER)).toBe(bytes)
      await volumes.restore(volume.id, restore)
      expect(await textIn(volume)).toBe('first')
    })

    test('that is given up leaves nothing under its key', async () => {
      const volume = await make()
      const reason = new Error('no more')
      await expect(volumes.snapshot(volume.id, key, AbortSignal.abort(reason))).rejects.toBe(reason)
      await expect(volumes.prepareRestore(volume.id, restore)).rejects.toMatchObject({ code: 'unavailable' })
      await expect(volumes.restore(volume.id, restore)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await volumes.listSnapshots(volume.id)).toEqual([])
      expect(await textIn(volume)).toBe('first')
    })

    test('is made smaller with what is in it, and removed twice as well as once', async () => {
      const volume = await make()
      await volumes.snapshot(volume.id, key, NEVER)
      await volumes.restore(volume.id, restore)
      expect(await volumes.compactSnapshot(volume.id, keepAs, NEVER)).toBeGreaterThan(0)
      expect(await volumes.compactSnapshot(volume.id, keepAs, NEVER)).toBeGreaterThan(0)
      expect((await volumes.listSnapshots(volume.id)).sort()).toEqual([key, keepAs])
      await volumes.removeSnapshot(volume.id, key)
      await volumes.removeSnapshot(volume.id, key)
      expect(await volumes.listSnapshots(volume.id)).toEqual([keepAs])
      await volumes.restore(volume.id, { key: keepAs, keepAs: 'snp-later', sizeGb: 1 })
      expect(await textIn(volume)).toBe('first')
    })

    test.each(['', '..', '../image', 'a/b'])('has no key like %j, which may lead elsewhere', async (wrong) => {
      const { id } = await make()
      const refused = { code: 'validation_failed' }
      await expect(volumes.snapshot(id, wrong, NEVER)).rejects.toMatchObject(refused)
      await expect(volumes.compactSnapshot(id, wrong, NEVER)).rejects.toMatchObject(refused)
      await expect(volumes.removeSnapshot(id, wrong)).rejects.toMatchObject(refused)
      await expect(volumes.prepareRestore(id, { key: wrong, sizeGb: 1 })).rejects.toMatchObject(refused)
      await expect(volumes.restore(id, { key: wrong, keepAs, sizeGb: 1 })).rejects.toMatchObject(refused)
      await expect(volumes.restore(id, { key, keepAs: wrong, sizeGb: 1 })).rejects.toMatchObject(refused)
    })
  })
}
