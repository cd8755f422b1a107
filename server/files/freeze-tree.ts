import { chmod, lchown, lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

const READ_AND_RUN = 0o5

/**
 * Makes a folder read-only for the group that runs what is in it: owned by us, each file as readable and executable for the
 * group as it was for its owner, writable for nobody. Links are never followed.
 */
export async function freezeTree(dir: string, owner: { uid: number; gid: number } | undefined): Promise<void> {
  for await (const entry of await opendir(dir)) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) await freezeTree(path, owner)
    else await freeze(path, owner)
  }
  await freeze(dir, owner)
}

async function freeze(path: string, owner: { uid: number; gid: number } | undefined): Promise<void> {
  const stats = await lstat(path)
  if (owner !== undefined) await lchown(path, owner.uid, owner.gid)
  if (stats.isSymbolicLink()) return
  const allowed = (stats.mode >> 6) & READ_AND_RUN
  // Without another user to own it we must keep what removes it later: write permission on folders.
  const own = owner === undefined && stats.isDirectory() ? allowed | 0o2 : allowed
  await chmod(path, (own << 6) | (allowed << 3))
}
