import { closedFolderAbove } from '../../platform/files/mount-place.ts'

export interface UserIds {
  uid: number
  gid: number
}

export function closedDirsAbove(paths: string[], user: UserIds): string[] {
  const closed = paths.map((path) => closedFolderAbove(path, user))
  return [...new Set(closed.filter((dir) => dir !== undefined))]
}
