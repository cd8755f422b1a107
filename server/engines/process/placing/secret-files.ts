import { existsSync } from 'node:fs'
import { chmod, chown, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { ensureFolder, isRoot } from '../../../platform/service-folders.ts'
import type { SecretFile } from '../../port/workload.ts'

const USERS_ALONE = 0o500
const USER_READS = 0o400
const OWNER_WRITES = 0o200

export interface SecretFolders {
  ensure(dir: string, files: () => readonly SecretFile[], uid: number): Promise<string>
}

export function createSecretFolders(): SecretFolders {
  /** By folder: two workloads may start with the same files at the same moment. */
  const underWay = new Map<string, Promise<void>>()
  return {
    ensure: async (dir, files, uid) => {
      if (existsSync(dir)) return dir
      const begun = underWay.get(dir) ?? layFiles(dir, files(), uid).finally(() => underWay.delete(dir))
      underWay.set(dir, begun)
      await begun
      return dir
    },
  }
}

async function layFiles(dir: string, files: readonly SecretFile[], uid: number): Promise<void> {
  const fresh = `${dir}.new`
  await removeTree(fresh)
  await ensureFolder(fresh, 0o700, { uid: 0, gid: 0 })
  for (const { name, content } of files) {
    await writeFile(join(fresh, name), content, { mode: USER_READS })
    if (isRoot) await chown(join(fresh, name), uid, uid)
  }
  if (isRoot) await chown(fresh, uid, uid)
  // Without another user to own it we must keep what removes it later: write permission on the folder.
  await chmod(fresh, isRoot ? USERS_ALONE : USERS_ALONE | OWNER_WRITES)
  await rename(fresh, dir)
}
