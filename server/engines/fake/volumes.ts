import { AppError } from '../../../shared/error.ts'
import { checkPlainId } from '../port/check-spec.ts'
import type { VolumeCapabilities, Volumes } from '../port/volumes.ts'
import type { VolumeCall } from './faults.ts'
import { type FakeMachine, type FakeVolume, volumeIn } from './machine.ts'

export const fakeVolumeCapabilities: VolumeCapabilities = {
  kinds: [{ name: 'folder', isBounded: false }],
  grow: 'offline',
  snapshots: true,
}

export function createFakeVolumes(machine: FakeMachine, capabilities: VolumeCapabilities = fakeVolumeCapabilities): Volumes {
  const { volumes, faults } = machine
  const around = <T>(call: VolumeCall, id: string, act: () => T): Promise<T> =>
    faults.around(`volumes.${call}`, async () => {
      checkPlainId(id)
      return act()
    })
  const change = (call: VolumeCall, id: string, act: (volume: FakeVolume) => void) => around(call, id, () => act(volumeIn(machine, id)))
  return {
    capabilities,
    roomBytes: () => Number.POSITIVE_INFINITY,
    pathProblem: () => undefined,
    pathOf: ({ mountPath }) => mountPath,
    make: ({ id, owner, sizeGb }) =>
      around('make', id, () => {
        if (!volumes.has(id)) volumes.set(id, { owner, sizeGb, files: new Map(), snapshots: new Map(), users: new Set() })
      }),
    grow: (id, { toGb }) =>
      change('grow', id, (volume) => {
        volume.sizeGb = toGb
      }),
    give: (id, owner) =>
      change('give', id, (volume) => {
        volume.owner = owner
      }),
    isInUse: (id) => around('isInUse', id, () => [...(volumes.get(id)?.users ?? [])].some(({ end }) => end === undefined)),
    usage: (id, unit) => around('usage', id, () => takenBy(volumes.get(id)?.files ?? new Map(), unit)),
    async snapshot(id, key, signal) {
      signal.throwIfAborted()
      checkPlainId(key)
      return await around('snapshot', id, () => {
        const { files, snapshots } = volumeIn(machine, id)
        if (!snapshots.has(key)) snapshots.set(key, new Map(files))
        return takenBy(snapshotIn(machine, id, key), 'bytes')
      })
    },
    async compactSnapshot(id, key, signal) {
      signal.throwIfAborted()
      return await around('compactSnapshot', id, () => takenBy(snapshotIn(machine, id, key), 'bytes'))
    },
    listSnapshots: (id) => around('listSnapshots', id, () => [...volumeIn(machine, id).snapshots.keys()]),
    async removeSnapshot(id, key) {
      checkPlainId(key)
      await around('removeSnapshot', id, () => void volumes.get(id)?.snapshots.delete(key))
    },
    prepareRestore: (id, { key }) => around('prepareRestore', id, () => void snapshotIn(machine, id, key)),
    restore: (id, { key, keepAs }) =>
      change('restore', id, (volume) => {
        checkPlainId(keepAs)
        if (volume.snapshots.has(keepAs)) return
        const restored = new Map(snapshotIn(machine, id, key))
        volume.snapshots.set(keepAs, volume.files)
        volume.files = restored
      }),
    remove: (id) => around('remove', id, () => void volumes.delete(id)),
    list: () => faults.around('volumes.list', async () => [...volumes.keys()]),
  }
}

function snapshotIn(machine: FakeMachine, id: string, key: string): Map<string, string> {
  checkPlainId(key)
  const files = volumeIn(machine, id).snapshots.get(key)
  if (files === undefined) throw new AppError('unavailable', `There is no snapshot ${key}`)
  return files
}

const takenBy = (files: Map<string, string>, unit: 'bytes' | 'files'): number =>
  unit === 'files' ? files.size : [...files.values()].reduce((sum, text) => sum + text.length, 0)
