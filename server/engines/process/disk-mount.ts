/**
 * How a disk comes to its path in the mount namespace of a workload. The root of that namespace is the machine's own, so nothing may be
 * made in it: a folder that the machine lacks is added by a read-only overlay over the nearest folder that it has, which only the
 * workload sees. A disk that is an image is mounted here and nowhere else, so it is free again when the namespace is gone, however
 * that came.
 */
import { folderToCover } from '../../files/mount-place.ts'
import { type DiskMount, IMAGE_ROOT } from '../port.ts'

/** A disk, and what the machine has where it is to be. */
export interface PlacedDisk extends DiskMount {
  /** The nearest folder above the path that the machine has, when it lacks the path itself. */
  overlaidDir: string | undefined
}

/** @throws AppError `unavailable` when there is no place for it on this machine. */
export const placeDisk = (disk: DiskMount): PlacedDisk => ({ ...disk, overlaidDir: folderToCover(disk.target) })

interface Step {
  source: string
  target: string
  type: 'none' | 'tmpfs' | 'ext4' | 'overlay'
  options: string
}

/** Puts the disk aside, before anything covers the folder that it is kept in. */
export function takeAside(disk: PlacedDisk, place: string): Step {
  return disk.isImage
    ? { source: disk.source, target: place, type: 'ext4', options: 'loop,noinit_itable,errors=remount-ro,nosuid,nodev,X-mount.mkdir' }
    : { source: disk.source, target: place, type: 'none', options: 'bind,nosuid,nodev,X-mount.mkdir' }
}

/** Adds the missing path to the folder above it: a mount on an empty folder makes the path, and the overlay shows both as one. */
export function overlayOver(dir: string, { target }: PlacedDisk, place: string): Step[] {
  return [
    { source: 'skeleton', target: place, type: 'tmpfs', options: 'size=1m,mode=755,nosuid,nodev,X-mount.mkdir' },
    {
      source: 'skeleton',
      target: `${place}${target.slice(dir.length)}`,
      type: 'tmpfs',
      options: 'size=1m,mode=755,nosuid,nodev,X-mount.mkdir',
    },
    { source: 'overlay', target: dir, type: 'overlay', options: `ro,lowerdir=${place}:${dir},nosuid,nodev` },
  ]
}

/** Brings the disk from aside to its path; below a covered folder the path is still to be made. */
export function putInPlace(disk: PlacedDisk, place: string, isBelowCovered: boolean): Step {
  const source = disk.isImage ? `${place}/${IMAGE_ROOT}` : place
  return { source, target: disk.target, type: 'none', options: `bind,nosuid,nodev${isBelowCovered ? ',X-mount.mkdir' : ''}` }
}
