import { chmod, lchown, lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../shared/error.ts'

const READ_AND_RUN = 0o5

interface Owner {
  uid: number
  gid: number
}

/**
 * Makes a folder read-only for the group that runs what is in it: owned by us, each file as readable and executable for the
 * group as it was for its owner, writable for nobody. Links are never followed.
 *
 * A folder is taken from its owner before anything in it is looked at: running instances of the same user could otherwise swap a
 * file for a link under our hands, and have us change the mode of any file of the machine. The folder above must be ours already.
 */
export async function freezeTree(dir: string, owner: Owner | undefined): Promise<void> {
  await freezeFolder(dir, owner)
  for await (const entry of await opendir(dir)) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) await freezeTree(path, owner)
    else await freezeFile(path, owner)
  }
}

/** Freezes one folder alone: for those on the way to a tree that is to be frozen, from the top down. */
export async function freezeFolder(dir: string, owner: Owner | undefined): Promise<void> {
  // No group yet: its write permission goes with the next step only.
  if (owner !== undefined) await lchown(dir, owner.uid, 0)
  const stats = await lstat(dir)
  if (!stats.isDirectory()) throw new AppError('bad_request', 'A folder of the build was replaced while it was stored. Deploy again.')
  const allowed = allowedOf(stats.mode)
  // Without another user to own it we must keep what removes it later: write permission on folders.
  await chmod(dir, modeOf(owner === undefined ? allowed | 0o2 : allowed, allowed))
  if (owner !== undefined) await lchown(dir, owner.uid, owner.gid)
}

async function freezeFile(path: string, owner: Owner | undefined): Promise<void> {
  const stats = await lstat(path)
  if (owner !== undefined) await lchown(path, owner.uid, owner.gid)
  if (!stats.isSymbolicLink()) await chmod(path, modeOf(allowedOf(stats.mode), allowedOf(stats.mode)))
}

const allowedOf = (mode: number): number => (mode >> 6) & READ_AND_RUN

const modeOf = (own: number, group: number): number => (own << 6) | (group << 3)
