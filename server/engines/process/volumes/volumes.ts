import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { AppError } from '../../../../shared/error.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { sizeOfFolder } from '../../../platform/process/folder-size.ts'
import { isPlainId } from '../../port/check-spec.ts'
import type { VolumeKind, Volumes } from '../../port/volumes.ts'
import type { VolumeMount } from '../../port/workload.ts'
import type { DiskMount, VolumeMounts } from '../spec.ts'
import { bytesAt, copyContent } from './copy.ts'
import { canGrowMounted, growImage } from './grow.ts'
import { checkImage } from './image.ts'
import { giveVolume, layVolume } from './lay.ts'
import { loopDeviceOf } from './loop-device.ts'
import { hidingProblem, placeProblem } from './mount-path.ts'
import { contentOf, FRESH, isImageAt, placesOf, snapshotIn, type VolumePlaces } from './places.ts'
import { putRestored, readyRestore } from './restore.ts'
import { copyStillImage } from './snapshot.ts'

/** The room on the file system that volumes stand on, without what has to stay free. */
export interface Room {
  bytes(): number
  /** Does something that takes space, and gives it up when it comes to what has to stay free. @throws AppError `unavailable` then. */
  whileThereIs<T>(need: { what: string; advice: string }, act: (signal: AbortSignal) => Promise<T>): Promise<T>
}

export interface ProcessVolumesOptions {
  dir: string
  mounts: VolumeMounts
  /** Folders that workloads need as they are, at whose places no volume can be. */
  needed: readonly string[]
  room: Room
}

export interface ProcessVolumes extends Volumes {
  /** Sound and ready to be mounted. @throws AppError `not_found` when there is none of that id, `unavailable` when it is damaged or cannot be mounted here. */
  open(volumeId: string): Promise<Pick<DiskMount, 'source' | 'isImage'>>
}

const IMAGE: VolumeKind = { name: 'image', isBounded: true }
const FOLDER: VolumeKind = { name: 'folder', isBounded: false }

const KINDS: Record<VolumeMounts, Volumes['capabilities']['kinds']> = { images: [IMAGE, FOLDER], folders: [FOLDER], nowhere: [FOLDER] }

const SNAPSHOT = { what: 'the snapshot', advice: 'Delete older ones, or free some space.' }
const MEASURE_TIMEOUT_MS = 5000

export function openVolumes({ dir, mounts, needed, room }: ProcessVolumesOptions): ProcessVolumes {
  const placesIn = (id: string) => placesOf(dir, id)
  return {
    capabilities: { kinds: KINDS[mounts], grow: mounts !== 'images' || canGrowMounted() ? 'online' : 'offline', snapshots: true },
    roomBytes: room.bytes,
    pathProblem: (mountPath) => hidingProblem(mountPath, needed) ?? (mounts === 'nowhere' ? undefined : placeProblem(mountPath)),
    pathOf: ({ volumeId, mountPath }: VolumeMount) => (mounts === 'nowhere' ? placesIn(volumeId).folder : mountPath),
    open: async (id) => await openVolume(placesIn(id), mounts),
    make: async ({ id, owner, sizeGb, kind }) => await layVolume(placesIn(id), { isImage: kind === IMAGE.name, sizeGb, uid: owner.number }),
    grow: async (id, size) => {
      const places = placesIn(id)
      if (isImageAt(places)) await growImage(places, size)
    },
    give: async (id, { number }) => await giveVolume(placesIn(id), number),
    isInUse: async (id) => {
      const places = placesIn(id)
      return isImageAt(places) && loopDeviceOf(places.image) !== undefined
    },
    usage: async (id, unit, signal) => await sizeOfFolder(contentOf(placesIn(id)), unit, { signal, timeoutMs: MEASURE_TIMEOUT_MS }),
    snapshot: async (id, key, signal) => {
      const places = placesIn(id)
      const to = snapshotIn(places, key)
      if (!existsSync(to)) await room.whileThereIs(SNAPSHOT, (short) => copyNow(places, to, AbortSignal.any([short, signal])))
      return await bytesAt(to)
    },
    compactSnapshot: async (id, key, signal) => {
      const places = placesIn(id)
      const path = snapshotIn(places, key)
      const compact = { from: path, to: path, isImage: true }
      if (isImageAt(places))
        await room.whileThereIs(SNAPSHOT, (short) => copyContent({ ...compact, signal: AbortSignal.any([short, signal]) })).catch(() => {})
      signal.throwIfAborted()
      return await bytesAt(path)
    },
    listSnapshots: async (id) => (await readdir(placesIn(id).snapshots)).filter((name) => !name.endsWith(FRESH)),
    removeSnapshot: async (id, key) => {
      const path = snapshotIn(placesIn(id), key)
      for (const one of [path, `${path}${FRESH}`]) await removeTree(one)
    },
    prepareRestore: async (id, restore) => await readyRestore(placesIn(id), restore),
    restore: async (id, restore) => await putRestored(placesIn(id), restore),
    remove: async (id) => await removeTree(placesIn(id).root),
    // Other folders, such as lost+found, are not ours.
    list: async () => (await readdir(dir).catch(() => [])).filter(isPlainId),
  }
}

async function openVolume(places: VolumePlaces, mounts: VolumeMounts): Promise<Pick<DiskMount, 'source' | 'isImage'>> {
  const source = contentOf(places)
  if (!existsSync(source)) throw new AppError('not_found', 'The disk is gone.')
  const isImage = isImageAt(places)
  if (isImage && mounts !== 'images')
    throw new AppError('unavailable', 'The disk is a file system in a file, which this machine cannot mount any more. See cpd doctor.')
  if (isImage && loopDeviceOf(source) === undefined) await checkImage(source)
  return { source, isImage }
}

async function copyNow(places: VolumePlaces, to: string, signal: AbortSignal): Promise<void> {
  if (isImageAt(places)) await copyStillImage(places, to, signal)
  else await copyContent({ from: places.folder, to, isImage: false, signal })
}
