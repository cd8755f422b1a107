import { readFileSync } from 'node:fs'
import { AppError } from '../../../../shared/error.ts'
import { enlargeFile, fillImage } from './image.ts'
import { loopDeviceOf } from './loop-device.ts'
import { withMountedImage } from './mounted-image.ts'
import type { VolumePlaces } from './places.ts'
import { runTool } from './tools.ts'

/**
 * Grows an image, while something has it mounted or not. Each step can be made again, and a kill between two leaves a file system that is whole:
 * the file first, then the device, then the file system, which the kernel enlarges under whoever writes to it.
 * @throws AppError when there is no room, and then its former size stays.
 */
export async function growImage(places: VolumePlaces, size: { fromGb: number; toGb: number }): Promise<void> {
  const { image } = places
  await enlargeFile(image, size)
  const device = loopDeviceOf(image)
  if (device !== undefined && (await growMounted(places, device))) return
  if (loopDeviceOf(image) !== undefined) throw new AppError('unavailable', 'The disk was taken and let go while it grew. Try again.')
  await fillImage(image)
}

/** Returns false where the device was let go meanwhile. */
async function growMounted({ image, mountPoint }: VolumePlaces, device: string): Promise<boolean> {
  const isHeld = () => loopDeviceOf(image) === device
  try {
    return await withMountedImage({ source: device, mountPoint }, async ({ run }) => {
      // Our own mount holds it from here on; before, it may have been taken for another file.
      if (!isHeld()) return false
      await runTool(['losetup', '--set-capacity', device])
      await run(['resize2fs', device])
      return true
    })
  } catch (error) {
    if (isHeld()) throw error
    return false
  }
}

/** The bit of CAP_SYS_RESOURCE, without which the kernel enlarges no file system that is mounted (ext4_resize_begin). */
const SYS_RESOURCE = 24n

/** Whether an image can grow while something has it mounted, which some containers do not allow. */
export function canGrowMounted(): boolean {
  const [, effective = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return ((BigInt(`0x${effective}`) >> SYS_RESOURCE) & 1n) === 1n
}
