import { join } from 'node:path'
import type { Paths } from '../../platform/paths.ts'

export interface DiskPaths {
  root: string
  image: string
  folder: string
  snapshots: string
  /** Where the image is mounted for us, in a namespace of its own: in the machine's it is always empty. */
  mountPoint: string
}

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
