import { lstatSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../shared/error.ts'

/**
 * The nearest folder above a path that the machine lacks, and that would have to be covered for something to be mounted at the path without
 * making anything; undefined when the machine has the path.
 *
 * @throws AppError `unavailable` when there is no place: a link or a file on the way, a folder in which anybody could make one, or no folder
 * of the machine above it.
 */
export function folderToCover(path: string): string | undefined {
  const nearest = nearestThere(path)
  if (realpathSync(nearest) !== nearest || !lstatSync(nearest).isDirectory())
    throw new AppError('unavailable', `The disk cannot be mounted at ${path}: ${nearest} is no folder, or leads elsewhere.`)
  const shared = foldersAbove(nearest).find(isOpenToAll)
  if (shared !== undefined)
    throw new AppError('unavailable', `The disk cannot be mounted at ${path}: everybody may put something else into ${shared}.`)
  if (nearest === path) return undefined
  if (nearest === '/') throw new AppError('unavailable', `The disk cannot be mounted at ${path}: the server has no folder above it.`)
  return nearest
}

const foldersAbove = (path: string): string[] => (dirname(path) === path ? [] : [dirname(path), ...foldersAbove(dirname(path))])

const OTHERS_WRITE = 0o002

const isOpenToAll = (folder: string): boolean => (lstatSync(folder).mode & OTHERS_WRITE) !== 0

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
