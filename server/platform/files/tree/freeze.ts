import { chmod, constants, copyFile, lchown, lstat, opendir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'

const READ_AND_RUN = 0o5
const OWNER_WRITES = 0o2

export interface NewOwner {
  uid: number
  gid: number
  /** A file of anybody but the maker in the tree is another name of that file, and stays unchanged. */
  maker: number
}

/** Bounds of one release: what it is taken into memory for, and read, while its content address is found. */
export interface TreeLimits {
  entries: number
  pathBytes: number
  bytes: number
  depth: number
}

const MIB = 1024 * 1024
export const RELEASE_LIMITS: TreeLimits = { entries: 500_000, pathBytes: 64 * MIB, bytes: 32 * 1024 * MIB, depth: 200 }

interface Freezing {
  dir: string
  owner: NewOwner | undefined
  limits: TreeLimits
  entries: number
  pathBytes: number
  bytes: number
  linked: Map<string, { paths: string[]; names: number }>
}

/**
 * Makes a folder read-only for the group that runs what is in it; only files, folders and links stay, and no link is followed.
 * A folder is taken from its owner before anything in it is looked at: a running instance could otherwise swap a file for a link, and have
 * us change the mode of any file of the machine. The folder above must be ours already.
 * @throws AppError `bad_request` for a tree beyond the limits, and for one that holds a file of somebody else.
 */
export async function freezeTree(dir: string, owner: NewOwner | undefined, limits: TreeLimits = RELEASE_LIMITS): Promise<void> {
  const freezing: Freezing = { dir, owner, limits, entries: 0, pathBytes: 0, bytes: 0, linked: new Map() }
  await freezeBelow(freezing, '', 0)
  for (const linked of freezing.linked.values()) await freezeLinked(freezing, linked)
}

export async function freezeFolder(dir: string, owner: NewOwner | undefined): Promise<void> {
  // No group yet: its write permission goes with the next step only.
  if (owner !== undefined) await lchown(dir, owner.uid, 0)
  const stats = await lstat(dir)
  if (!stats.isDirectory()) throw new AppError('bad_request', 'A folder of the build was replaced while it was stored. Deploy again.')
  const allowed = allowedOf(stats.mode)
  await chmod(dir, modeOf(allowed | OWNER_WRITES, allowed))
  if (owner !== undefined) await lchown(dir, owner.uid, owner.gid)
}

async function freezeBelow(freezing: Freezing, path: string, depth: number): Promise<void> {
  const folder = join(freezing.dir, path)
  if (depth > freezing.limits.depth) throw tooMuch(`is deeper than ${freezing.limits.depth} folders`)
  await freezeFolder(folder, freezing.owner)
  for await (const entry of await opendir(folder)) {
    const below = path === '' ? entry.name : `${path}/${entry.name}`
    count(freezing, below)
    if (entry.isDirectory()) await freezeBelow(freezing, below, depth + 1)
    else await freezeEntry(freezing, below)
  }
}

function count(freezing: Freezing, path: string): void {
  const { limits } = freezing
  freezing.entries += 1
  freezing.pathBytes += Buffer.byteLength(path)
  if (freezing.entries > limits.entries) throw tooMuch(`holds more than ${limits.entries} files`)
  if (freezing.pathBytes > limits.pathBytes) throw tooMuch(`has more than ${limits.pathBytes} bytes of file names`)
}

function tooMuch(reason: string): AppError {
  return new AppError('bad_request', `Build failed: what it left ${reason}; leave out what the app does not need at run time`)
}

async function freezeEntry(freezing: Freezing, path: string): Promise<void> {
  const { dir, owner, linked, limits } = freezing
  const absolute = join(dir, path)
  const stats = await lstat(absolute)
  if (stats.isSymbolicLink()) return owner === undefined ? undefined : await lchown(absolute, owner.uid, owner.gid)
  if (!stats.isFile()) return await unlink(absolute)
  if (!isOfMaker(stats, owner)) throw foreign(path)
  freezing.bytes += stats.size
  if (freezing.bytes > limits.bytes) throw tooMuch(`is larger than ${limits.bytes} bytes`)
  if (stats.nlink === 1) return await freezeFile(absolute, stats.mode, owner)
  const inode = `${stats.dev}:${stats.ino}`
  const known = linked.get(inode)
  if (known === undefined) linked.set(inode, { paths: [path], names: stats.nlink })
  else known.paths.push(path)
}

function isOfMaker({ uid, gid }: { uid: number; gid: number }, owner: NewOwner | undefined): boolean {
  if (owner === undefined) return uid === process.getuid?.()
  return uid === owner.maker || (uid === owner.uid && gid === owner.gid)
}

function foreign(path: string): AppError {
  return new AppError('bad_request', `Build failed: ${JSON.stringify(path)} is a hard link to a file of another user; copy it instead`)
}

/** What has names elsewhere, in a cache, say, stays as it is there: the release gets a copy. All folders are frozen, so no path leads out. */
async function freezeLinked({ dir, owner }: Freezing, { paths, names }: { paths: string[]; names: number }): Promise<void> {
  const isInside = paths.length === names
  for (const path of isInside ? paths.slice(0, 1) : paths) {
    const absolute = join(dir, path)
    const { mode } = await lstat(absolute)
    if (!isInside) await replaceByCopy(absolute)
    await freezeFile(absolute, mode, owner)
  }
}

async function replaceByCopy(path: string): Promise<void> {
  const fresh = `${path}.${crypto.randomUUID().slice(0, 8)}`
  await copyFile(path, fresh, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await rename(fresh, path)
}

async function freezeFile(path: string, mode: number, owner: NewOwner | undefined): Promise<void> {
  if (owner !== undefined) await lchown(path, owner.uid, owner.gid)
  const allowed = allowedOf(mode)
  await chmod(path, modeOf(owner === undefined ? allowed : allowed | OWNER_WRITES, allowed))
}

const allowedOf = (mode: number): number => (mode >> 6) & READ_AND_RUN

const modeOf = (own: number, group: number): number => (own << 6) | (group << 3)
