import { closedFolderAbove } from '../../platform/files/mount-place.ts'

export interface UserIds {
  uid: number
  gid: number
}

/** The outermost folder above each path that this user may not enter; paths that can be reached give none. */
export function closedDirsAbove(paths: string[], user: UserIds): string[] {
  const closed = paths.map((path) => closedFolderAbove(path, user))
  return [...new Set(closed.filter((dir) => dir !== undefined))]
}
