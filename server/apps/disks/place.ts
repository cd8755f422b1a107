import { lstatSync, realpathSync } from 'node:fs'
import { AppError, invalidValue } from '../../../shared/error.ts'
import { closedFolderAbove, folderToCover } from '../../platform/files/mount-place.ts'
import { isRoot } from '../../platform/service-folders.ts'
import { roomOf } from '../../runtime/space/room.ts'
import type { AppContext } from '../context.ts'
import { mountPathProblem, sizeProblem, topFolderOf } from './rules.ts'

type At = (field: 'mountPath' | 'sizeGB') => string

export function refuseBadPath({ config, paths, engine }: Pick<AppContext, 'config' | 'paths' | 'engine'>, mountPath: string, at: At): void {
  const own = [realOf(paths.data), ...config.CP_BUILD_PATH.map(realOf)]
  const problem = mountPathProblem(mountPath, own) ?? (engine.capabilities.volumes === 'nowhere' ? undefined : placeProblem(mountPath))
  if (problem !== undefined) throw invalidValue(at('mountPath'), problem)
}

function placeProblem(mountPath: string): string | undefined {
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

/** A user that owns nothing of the machine and is in none of its groups, as those of services are. */
const ANY_SERVICE = { uid: -1, gid: -1 }

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

export function refuseBadSize(
  context: Pick<AppContext, 'paths' | 'config'>,
  { sizeGb, given }: { sizeGb: number; given: number },
  at: At,
): void {
  const problem = sizeProblem(sizeGb, { given, freeBytes: roomOf(context).bytes })
  if (problem !== undefined) throw invalidValue(at('sizeGB'), problem)
}
