/**
 * How a disk comes to its path in the mount namespace of a workload. The root of that namespace is the machine's own, so nothing may be
 * made in it: a folder that the machine lacks is added by a read-only overlay over the nearest folder that it has, which only the
 * workload sees. A disk that is an image is mounted here and nowhere else, so it is free again when the namespace is gone, however
 * that came.
 */
import { statSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'
import { closedFolderAbove, folderToCover } from '../../platform/files/mount-place.ts'
import { type DiskMount, IMAGE_ROOT } from './spec.ts'

export interface PlacedDisk extends DiskMount {
  overlaidDir: string | undefined
  overlaidAs: string
}

/** `user`: whose rights count on the way to it, undefined where all runs as our own. @throws AppError `unavailable` without a place for it. */
export function placeDisk(disk: DiskMount, user: { uid: number; gid: number } | undefined): PlacedDisk {
  const overlaidDir = folderToCover(disk.target)
  if (user !== undefined) refuseClosed(disk.target, user)
  return { ...disk, overlaidDir, overlaidAs: overlaidDir === undefined ? '' : likenessOf(overlaidDir, user !== undefined) }
}

function refuseClosed(target: string, user: { uid: number; gid: number }): void {
  const closed = closedFolderAbove(target, user)
  if (closed === undefined) return
  throw new AppError(
    'unavailable',
    `The disk cannot be mounted at ${target}: the service may not enter ${closed}. Mount it elsewhere, such as below /srv, or open that folder to all.`,
  )
}

/** The overlay shows the owner and mode of its uppermost layer, which must not open what is closed. */
function likenessOf(dir: string, isRoot: boolean): string {
  const { mode, uid, gid } = statSync(dir)
  return `mode=${(mode & 0o7777).toString(8)}${isRoot ? `,uid=${uid},gid=${gid}` : ''}`
}

interface Step {
  source: string
  target: string
  type: 'none' | 'tmpfs' | 'ext4' | 'overlay'
  options: string
}

export function takeAside(disk: PlacedDisk, place: string): Step {
  return disk.isImage
    ? { source: disk.source, target: place, type: 'ext4', options: 'loop,noinit_itable,errors=remount-ro,nosuid,nodev,X-mount.mkdir' }
    : { source: disk.source, target: place, type: 'none', options: 'bind,nosuid,nodev,X-mount.mkdir' }
}

/** Adds the missing path to the folder above it: a mount on an empty folder makes the path, and the overlay shows both as one. */
export function overlayOver(dir: string, { target, overlaidAs }: PlacedDisk, place: string): Step[] {
  return [
    { source: 'skeleton', target: place, type: 'tmpfs', options: `size=1m,${overlaidAs},nosuid,nodev,X-mount.mkdir` },
    {
      source: 'skeleton',
      target: `${place}${target.slice(dir.length)}`,
      type: 'tmpfs',
      options: 'size=1m,mode=755,nosuid,nodev,X-mount.mkdir',
    },
    { source: 'overlay', target: dir, type: 'overlay', options: `ro,lowerdir=${place}:${dir},nosuid,nodev` },
  ]
}

export function putInPlace(disk: PlacedDisk, place: string, isBelowCovered: boolean): Step {
  const source = disk.isImage ? `${place}/${IMAGE_ROOT}` : place
  return { source, target: disk.target, type: 'none', options: `bind,nosuid,nodev${isBelowCovered ? ',X-mount.mkdir' : ''}` }
}
