import { lstatSync, realpathSync } from 'node:fs'
import { AppError } from '../../../../shared/error.ts'
import { closedFolderAbove, folderToCover } from '../../../platform/files/mount-place.ts'
import { isRoot } from '../../../platform/service-folders.ts'

/** Why a volume at this path would hide one of these folders, links in which are followed; undefined when it would not. */
export function hidingProblem(mountPath: string, needed: readonly string[]): string | undefined {
  const hidden = needed.map(realOf).find((dir) => isAtOrBelow(mountPath, dir) || isAtOrBelow(dir, mountPath))
  return hidden === undefined ? undefined : `The mount path would hide ${hidden}, which instances need. Choose another, such as /var/data.`
}

const isAtOrBelow = (path: string, dir: string): boolean => path === dir || path.startsWith(`${dir}/`)

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

export function placeProblem(mountPath: string): string | undefined {
  const top = topFolderOf(mountPath)
  if (lstatSync(top, { throwIfNoEntry: false }) === undefined)
    return `The server has no folder ${top}. Mount the disk below /var, /srv, /mnt or /opt, such as at /var/data, or have its operator make ${top}.`
  const closed = isRoot ? closedFolderAbove(mountPath, ANY_SERVICE) : undefined
  if (closed !== undefined) return `Services may not enter ${closed}. Mount the disk elsewhere, such as at /var/data.`
  try {
    folderToCover(mountPath)
    return undefined
  } catch (error) {
    return error instanceof AppError ? error.message : `The disk cannot be mounted at ${mountPath}.`
  }
}

/** The first folder of a path, which the machine must have: nothing can be added beside the roots of its file system. */
export const topFolderOf = (path: string): string => `/${path.split('/')[1] ?? ''}`

/** A user that owns nothing of the machine and is in none of its groups, as those of services are. */
const ANY_SERVICE = { uid: -1, gid: -1 }
