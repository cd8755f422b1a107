/**
 * Looking into a tree that somebody else may be changing, as a user who may do more than they.
 * A path is walked name by name, each opened relative to the descriptor of the folder before and never through a link, so nothing outside
 * of the root is opened. `O_PATH` opens nothing that could block or act, a FIFO or a device.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readlinkSync, readSync, type Stats } from 'node:fs'

const O_PATH = 0o10_000_000
const ITSELF = O_PATH | constants.O_NOFOLLOW
const ROOT = ITSELF | constants.O_DIRECTORY
/** Linux follows as many before it answers ELOOP. */
const MAX_LINKS_FOLLOWED = 40
/** Names along the way, those of links included: everybody waits meanwhile, and a few dozen links lead through tens of thousands. */
const MAX_STEPS = 256

export type Beneath =
  | { kind: 'absent' }
  | { kind: 'outside' }
  | { kind: 'file' | 'folder' | 'other'; sizeBytes: number /** Relative to the root, without links; '' for the root. */; realPath: string }

export function statBeneath(root: string, path: string): Beneath {
  return walk(root, path, (found) => found)
}

export function headBeneath(root: string, path: string, maxBytes: number): Buffer | undefined {
  return walk(root, path, (found, descriptor) => {
    if (found.kind !== 'file') return undefined
    const file = openSync(placeOf(descriptor), constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      return readHead(file, Math.min(found.sizeBytes, maxBytes))
    } finally {
      closeSync(file)
    }
  })
}

function readHead(file: number, wantedBytes: number): Buffer {
  const bytes = Buffer.alloc(wantedBytes)
  let at = 0
  while (at < wantedBytes) {
    const count = readSync(file, bytes, at, wantedBytes - at, at)
    if (count === 0) break
    at += count
  }
  return bytes.subarray(0, at)
}

export function listBeneath(root: string, path: string): { name: string; kind: 'file' | 'folder' | 'other' }[] {
  return walk(root, path, (found, descriptor) => {
    if (found.kind !== 'folder') return []
    const entries = readdirSync(placeOf(descriptor), { withFileTypes: true })
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })).sort((a, b) => (a.name < b.name ? -1 : 1))
  })
}

interface Reached {
  name: string
  descriptor: number
  stats: Stats
}

function walk<T>(root: string, path: string, use: (found: Beneath, descriptor: number) => T): T {
  const way: Reached[] = []
  try {
    const descriptor = openSync(root, ROOT)
    way.push({ name: '', descriptor, stats: fstatSync(descriptor) })
    const stopped = step(way, path)
    const last = way.at(-1)
    if (stopped !== undefined || last === undefined) return use({ kind: stopped ?? 'absent' }, -1)
    const realPath = way
      .slice(1)
      .map(({ name }) => name)
      .join('/')
    return use({ kind: kindOf(last.stats), sizeBytes: last.stats.size, realPath }, last.descriptor)
  } catch (error) {
    if (isAbsence(error)) return use({ kind: 'absent' }, -1)
    throw error
  } finally {
    for (const { descriptor } of way) closeSync(descriptor)
  }
}

function step(way: Reached[], path: string): 'absent' | 'outside' | undefined {
  const pending = path.split('/').reverse()
  let followed = 0
  let steps = 0
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (++steps > MAX_STEPS) return 'absent'
    // No file has such a name, and the file system calls of the runtime throw at it.
    if (name.includes('\0') || way.at(-1)?.stats.isDirectory() !== true) return 'absent'
    if (name === '..' && way.length === 1) return 'outside'
    const target = take(way, name)
    if (target === undefined) continue
    if (target.startsWith('/')) return 'outside'
    if (++followed > MAX_LINKS_FOLLOWED) return 'absent'
    pending.push(...target.split('/').reverse())
  }
  return undefined
}

function take(way: Reached[], name: string): string | undefined {
  if (name === '' || name === '.') return undefined
  return name === '..' ? leave(way) : enter(way, name)
}

function enter(way: Reached[], name: string): string | undefined {
  const path = `${placeOf(way.at(-1)?.descriptor ?? -1)}/${name}`
  const descriptor = openSync(path, ITSELF)
  const stats = fstatSync(descriptor)
  way.push({ name, descriptor, stats })
  if (!stats.isSymbolicLink()) return undefined
  leave(way)
  return readlinkSync(path)
}

function leave(way: Reached[]): undefined {
  closeSync(way.pop()?.descriptor ?? -1)
}

/** The kernel leads from this name to what is open without looking at the path any more (proc_pid_fd(5)). */
const placeOf = (descriptor: number): string => `/proc/self/fd/${descriptor}`

function kindOf(stats: Pick<Stats, 'isDirectory' | 'isFile'>): 'file' | 'folder' | 'other' {
  if (stats.isDirectory()) return 'folder'
  return stats.isFile() ? 'file' : 'other'
}

const absences: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EINVAL', 'ENXIO'])

const isAbsence = (error: unknown): boolean => error instanceof Error && 'code' in error && absences.has(error.code)
