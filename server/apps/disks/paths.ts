import { join } from 'node:path'
import type { Paths } from '../../platform/paths.ts'

export interface DiskPaths {
  root: string
  /** The file system of a disk that is an image; its space is taken in full. */
  image: string
  /** The files of a disk that is a folder. */
  folder: string
  /** By key. */
  snapshots: string
  /** Where the image is mounted for us, in a namespace of its own: in the machine's it is always empty. */
  mountPoint: string
}

/** Where everything of one disk stands. */
export function diskPathsOf(paths: Pick<Paths, 'disks'>, diskId: string): DiskPaths {
  const root = join(paths.disks, diskId)
  return {
    root,
    image: join(root, 'image'),
    folder: join(root, 'data'),
    snapshots: join(root, 'snapshots'),
    mountPoint: join(root, 'mount'),
  }
}
