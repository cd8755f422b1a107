import { lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../../shared/error.ts'

/** What is covered to mount something at a path. @throws AppError unavailable where somebody could lead it elsewhere. */
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

function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch {
    return false
  }
}

interface User {
  uid: number
  gid: number
}

/** The outermost folder above a path that this user may not enter, if any: what is mounted below must not be a way around it. */
export const closedFolderAbove = (path: string, user: User): string | undefined =>
  foldersAbove(path)
    .reverse()
    .find((folder) => !canEnter(folder, user))

function canEnter(folder: string, { uid, gid }: User): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined) return true
  const bit = stat.uid === uid ? 0o100 : stat.gid === gid ? 0o010 : 0o001
  return (stat.mode & bit) !== 0
}
