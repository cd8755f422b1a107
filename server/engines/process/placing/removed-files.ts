import { readdirSync, readlinkSync, statSync } from 'node:fs'

const BLOCK_BYTES = 512
/** An app can hold millions of files open, and everybody waits while they are looked at: what is found in this time has to do. */
const REMOVED_TIMEOUT_MS = 1000

export interface MeasuredPlace {
  device: number
  folder: string
}

/** Bytes in removed files below this place that these users hold open or mapped: no folder shows them. Empty where we may not look into processes. */
export function measureRemoved(uids: ReadonlySet<number>, place: MeasuredPlace): Map<number, number> {
  const byUid = new Map<number, number>()
  const seen = new Set<string>()
  const deadline = performance.now() + REMOVED_TIMEOUT_MS
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const uid = ownerOf(`/proc/${pid}`)
    if (uid === undefined || !uids.has(uid)) continue
    for (const { path, target } of HELD.flatMap((held) => removedFilesOf(`/proc/${pid}/${held}`, deadline))) {
      const stat = removedIn(place, path, target)
      const inode = `${stat?.dev}:${stat?.ino}`
      if (stat === undefined || seen.has(inode)) continue
      seen.add(inode)
      byUid.set(uid, (byUid.get(uid) ?? 0) + stat.blocks * BLOCK_BYTES)
    }
  }
  return byUid
}

function removedIn({ device, folder }: MeasuredPlace, path: string, target: string) {
  const stat = statOf(path)
  if (stat === undefined || stat.nlink > 0 || !stat.isFile()) return undefined
  return stat.dev === device || target.startsWith(`${folder}/`) ? stat : undefined
}

const ownerOf = (path: string): number | undefined => statOf(path)?.uid

function statOf(path: string) {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** What the kernel writes behind the name of a file that has none any more (see proc_pid_fd(5)). */
const REMOVED = ' (deleted)'

const HELD = ['fd', 'map_files']

function removedFilesOf(folder: string, deadline: number): { path: string; target: string }[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const path = `${folder}/${name}`
      const target = performance.now() < deadline ? targetOf(path) : ''
      return target.endsWith(REMOVED) ? [{ path, target }] : []
    })
  } catch {
    return []
  }
}

function targetOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // One that is closed meanwhile must not hide the others.
    return ''
  }
}
