/**
 * How a disk comes to its path in the mount namespace of a workload. The root of that namespace is the machine's own, so nothing may be
 * made in it: a folder that the machine lacks is added by a read-only overlay over the nearest folder that it has, which only the
 * workload sees. A disk that is an image is mounted here and nowhere else, so it is free again when the namespace is gone, however
 * that came.
 */
import { lstatSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import type { DiskMount } from '../port.ts'

/** A disk, and what the machine has where it is to be. */
export interface PlacedDisk extends DiskMount {
  /** The nearest folder above the path that the machine has, when it lacks the path itself. */
  overlaidDir: string | undefined
}

/**
 * Looks where a disk is to be.
 *
 * @throws AppError `unavailable` when there is no place for it: a link or a file on the way, or no folder of the machine above it.
 */
export function placeDisk(disk: DiskMount): PlacedDisk {
  const nearest = nearestThere(disk.target)
  if (realpathSync(nearest) !== nearest || !lstatSync(nearest).isDirectory())
    throw new AppError('unavailable', `The disk cannot be mounted at ${disk.target}: ${nearest} is no folder, or leads elsewhere.`)
  if (nearest === disk.target) return { ...disk, overlaidDir: undefined }
  if (nearest === '/')
    throw new AppError('unavailable', `The disk cannot be mounted at ${disk.target}: the machine has no folder above it. Make one.`)
  return { ...disk, overlaidDir: nearest }
}

function nearestThere(path: string): string {
  return isThere(path) ? path : nearestThere(dirname(path))
}

/** What stands below a file is not there, either; asked plainly, that is an error. */
function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}

interface Step {
  source: string
  target: string
  type: 'none' | 'tmpfs' | 'ext4' | 'overlay'
  options: string
}

/** The folder of an image that is the disk: beside it stands what the file system keeps for itself. */
export const IMAGE_ROOT = 'data'

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
