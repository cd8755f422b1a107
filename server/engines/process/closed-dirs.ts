import { type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'

export interface UserIds {
  uid: number
  gid: number
}

/** The outermost folder above each path that this user may not enter; paths that can be reached give none. */
export function closedDirsAbove(paths: string[], user: UserIds): string[] {
  const closed = paths.map((path) => ancestors(path).find((dir) => !canEnter(dir, user)))
  return [...new Set(closed.filter((dir) => dir !== undefined))]
}

function ancestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...ancestors(parent), parent]
}

function canEnter(dir: string, user: UserIds): boolean {
  const stat = statSync(dir, { throwIfNoEntry: false })
  return stat === undefined || (stat.mode & enterBit(stat, user)) !== 0
}

function enterBit(stat: Stats, { uid, gid }: UserIds): number {
  if (stat.uid === uid) return 0o100
  return stat.gid === gid ? 0o010 : 0o001
}
