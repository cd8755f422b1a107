import { ensureFolder } from '../../../platform/service-folders.ts'

const USERS_ALONE = 0o700

export async function ensureToolFolder(path: string, uid: number): Promise<string> {
  await ensureFolder(path, USERS_ALONE, { uid, gid: uid })
  return path
}
