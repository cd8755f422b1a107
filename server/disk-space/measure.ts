import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { AppError } from '../../shared/error.ts'
import { runProcess } from '../process/spawn.ts'
import { systemEnv } from '../process/system-tools.ts'
import type { Unit } from './reserve.ts'

const MEASURE_TIMEOUT_MS = 5000
const BLOCK_BYTES = 512
/** Folders, each by a process of its own. */
const AT_ONCE = 8
/** An app can hold millions of files open, and everybody waits while they are looked at: what is found in this time has to do. */
const REMOVED_TIMEOUT_MS = 1000

/** What `du` counts. */
const COUNTING: Record<Unit, string> = { bytes: '--block-size=1', files: '--inodes' }

/**
 * How many bytes or files each of these folders takes on its file system. Folders that cannot be measured in a few seconds are left out: what
 * fills a disk fast has few and large files.
 *
 * @throws the signal's reason when aborted.
 */
export async function measureFolders(folders: readonly string[], unit: Unit, signal: AbortSignal): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const waiting = [...folders]
  const measureNext = async () => {
    for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
      const held = await measureFolder(folder, unit, signal)
      if (held !== undefined) sizes.set(folder, held)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, measureNext))
  return sizes
}

async function measureFolder(folder: string, unit: Unit, signal: AbortSignal): Promise<number | undefined> {
  try {
    // A file that vanishes meanwhile makes du fail, after it has told the sum.
    const { stdout } = await runProcess(['du', '-s', '-x', COUNTING[unit], '--', folder], {
      env: systemEnv,
      signal,
      timeoutMs: MEASURE_TIMEOUT_MS,
    })
    const held = Number.parseInt(stdout, 10)
    return Number.isNaN(held) ? undefined : held
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/**
 * Bytes in files on the file system `device` that these users hold open and have removed: no folder shows them, and they go with the process.
 * Empty where we may not look into other users' processes.
 */
export function measureRemoved(uids: ReadonlySet<number>, device: number): Map<number, number> {
  const byUid = new Map<number, number>()
  const seen = new Set<number>()
  const deadline = performance.now() + REMOVED_TIMEOUT_MS
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const uid = ownerOf(`/proc/${pid}`)
    if (uid === undefined || !uids.has(uid)) continue
    for (const path of removedFilesOf(`/proc/${pid}/fd`, deadline)) {
      const stat = statOf(path)
      if (stat === undefined || stat.dev !== device || stat.nlink > 0 || !stat.isFile() || seen.has(stat.ino)) continue
      seen.add(stat.ino)
      byUid.set(uid, (byUid.get(uid) ?? 0) + stat.blocks * BLOCK_BYTES)
    }
  }
  return byUid
}

const ownerOf = (path: string): number | undefined => statOf(path)?.uid

function statOf(path: string) {
  try {
    return statSync(path)
  } catch {
    // It has ended or been closed meanwhile.
    return undefined
  }
}

/** What the kernel writes behind the name of a file that has none any more (see proc_pid_fd(5)). */
const REMOVED = ' (deleted)'

function removedFilesOf(folder: string, deadline: number): string[] {
  try {
    const paths = readdirSync(folder).map((name) => `${folder}/${name}`)
    return paths.filter((path) => performance.now() < deadline && targetOf(path).endsWith(REMOVED))
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
