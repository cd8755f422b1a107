import { lchown, opendir } from 'node:fs/promises'
import { join } from 'node:path'

/** Gives a folder and everything in it to `uid` and `gid`. Links themselves change owner; what they point to is never touched. */
export async function chownTree(dir: string, uid: number, gid: number): Promise<void> {
  // Contents first: while the folder is still its old owner's, the new one cannot swap anything in it for a link.
  for await (const entry of await opendir(dir)) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) await chownTree(path, uid, gid)
    else await lchown(path, uid, gid)
  }
  await lchown(dir, uid, gid)
}
