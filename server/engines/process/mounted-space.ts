import { readFile, statfs } from 'node:fs/promises'
import type { VolumeSpace } from '../port/port.ts'
import { IMAGE_ROOT } from './spec.ts'

const ROOT_COLUMN = 3
const MOUNT_POINT_COLUMN = 4

/** Where an image is mounted, out of the text of a mountinfo (proc_pid_mountinfo(5)); undefined where none is. */
export function imageMountIn(mountinfo: string): string | undefined {
  for (const line of mountinfo.split('\n')) {
    const [left = '', right = ''] = line.split(' - ')
    const [type, source = ''] = right.split(' ')
    const columns = left.split(' ')
    if (type === 'ext4' && source.startsWith('/dev/loop') && columns[ROOT_COLUMN] === `/${IMAGE_ROOT}`) return columns[MOUNT_POINT_COLUMN]
  }
  return undefined
}

/** How full the image is that a process has mounted. Its file system is asked, and no folder walked. */
export async function spaceSeenBy(pid: number): Promise<VolumeSpace | undefined> {
  try {
    const mountPoint = imageMountIn(await readFile(`/proc/${pid}/mountinfo`, 'utf8'))
    if (mountPoint === undefined) return undefined
    const { bsize, blocks, bavail } = await statfs(`/proc/${pid}/root${mountPoint}`)
    return { usedBytes: (blocks - bavail) * bsize, sizeBytes: blocks * bsize }
  } catch {
    // The process may have ended meanwhile.
    return undefined
  }
}
