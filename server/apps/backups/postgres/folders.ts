import { ensureFolder } from '../../../platform/service-folders.ts'

const USERS_ALONE = 0o700

/** A folder that the tools may write to and nobody else may read. */
export async function ensureToolFolder(path: string, uid: number): Promise<string> {
  await ensureFolder(path, USERS_ALONE, { uid, gid: uid })
  return path
}
