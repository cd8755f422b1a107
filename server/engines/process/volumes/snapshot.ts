import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../../../shared/error.ts'
import { copyContent } from './copy.ts'
import { loopDeviceOf } from './loop-device.ts'
import { withMountedImage } from './mounted-image.ts'
import type { VolumePlaces } from './places.ts'

/** Writes of the app wait while an image is copied; on a file system that shares blocks (XFS, btrfs) that is a moment. */
const LONGEST_FREEZE_MS = 60_000
const COPY_TRIES = 5

/** An image is copied while nothing changes it: with writes held back while it is mounted, and again when it was mounted meanwhile. */
export async function copyStillImage(places: VolumePlaces, to: string, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < COPY_TRIES; tries++) if (await tryToCopy(places, to, signal)) return
  throw new AppError('unavailable', 'The service was started and stopped while the disk was copied. Try again when it is steady.')
}

async function tryToCopy(places: VolumePlaces, to: string, signal: AbortSignal): Promise<boolean> {
  const { image } = places
  const changedAt = changeOf(image)
  const device = loopDeviceOf(image)
  if (device !== undefined) return await copyMounted(places, { device, to, signal })
  const isStill = () => loopDeviceOf(image) === undefined && changeOf(image) === changedAt
  return await copyContent({ from: image, to, isImage: true, signal, isStill })
}

async function copyMounted(
  { image, mountPoint }: VolumePlaces,
  { device, to, signal }: { device: string; to: string; signal: AbortSignal },
): Promise<boolean> {
  const isLetGo = () => loopDeviceOf(image) !== device
  let isMounted = false
  try {
    return await withMountedImage({ source: device, mountPoint }, async ({ freeze }) => {
      isMounted = true
      // Let go since we looked, the device may have been taken for another file. From here on our own mount holds it.
      if (isLetGo()) return false
      await freeze()
      return await inTime(signal, (either) => copyContent({ from: image, to, isImage: true, signal: either }))
    })
  } catch (error) {
    // A device that is just being let go can be mounted no more.
    if (isMounted || !(await isTrueSoon(isLetGo, signal))) throw error
    return false
  }
}

const LETTING_GO_MS = 2000
const LOOK_MS = 10

async function isTrueSoon(check: () => boolean, signal: AbortSignal): Promise<boolean> {
  for (const end = performance.now() + LETTING_GO_MS; performance.now() < end; await sleep(LOOK_MS, undefined, { signal }))
    if (check()) return true
  return check()
}

/** The kernel writes to an image whenever it mounts it for writing and when it lets it go, which the time of its last change tells. */
function changeOf(image: string): bigint | undefined {
  return statSync(image, { bigint: true, throwIfNoEntry: false })?.mtimeNs
}

async function inTime<T>(signal: AbortSignal, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(LONGEST_FREEZE_MS)
  try {
    return await act(AbortSignal.any([late, signal]))
  } catch (error) {
    if (!late.aborted) throw error
    const advice = 'Suspend the service for it, or keep the data on XFS or btrfs, where a copy takes no time'
    throw new AppError(
      'unavailable',
      `The disk was not copied within ${LONGEST_FREEZE_MS / 1000} s, and the app was not to wait for longer. ${advice}.`,
    )
  }
}
