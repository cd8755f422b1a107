import { chmod, chown, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from './files/tree/remove.ts'
import { type Paths, type ServicePaths, servicePathsOf } from './paths.ts'

const ROOTS_ALONE = 0o700
/** The service's user may pass through and open what it knows the name of. */
const PASS_THROUGH = 0o710
const USERS_ALONE = 0o700

/** Whether we may give files to other users; where not, everything belongs to and runs as our own user. */
export const isRoot = process.getuid?.() === 0

export async function ensureServiceFolders(paths: Paths, service: { id: string; uid: number }): Promise<ServicePaths> {
  const own = servicePathsOf(paths, service.id)
  const gid = service.uid
  await ensureFolder(own.root, PASS_THROUGH, { uid: 0, gid })
  for (const folder of [own.releases, own.builds, own.secrets]) await ensureFolder(folder, PASS_THROUGH, { uid: 0, gid })
  for (const folder of [own.sources, own.output]) await ensureFolder(folder, ROOTS_ALONE, { uid: 0, gid: 0 })
  for (const folder of [own.cache, own.home, own.tmp]) await ensureFolder(folder, USERS_ALONE, { uid: service.uid, gid })
  return own
}

/** Empties a folder of a service. It is moved aside first: whoever starts meanwhile finds it empty. */
export async function discardServiceFolder(paths: Paths, service: { id: string; uid: number }, name: 'tmp' | 'cache'): Promise<void> {
  const own = servicePathsOf(paths, service.id)
  await ensureFolder(own.trash, ROOTS_ALONE, { uid: 0, gid: 0 })
  const aside = join(own.trash, crypto.randomUUID())
  await rename(own[name], aside)
  await ensureServiceFolders(paths, service)
  await removeTree(aside)
}

export const removeServiceFolders = (paths: Paths, serviceId: string): Promise<void> => removeTree(servicePathsOf(paths, serviceId).root)

interface FileOwner {
  uid: number
  gid: number
}

export async function ensureFolder(path: string, mode: number, owner: FileOwner): Promise<void> {
  await mkdir(path, { recursive: true, mode })
  if (isRoot) await chown(path, owner.uid, owner.gid)
  await chmod(path, mode)
}
