import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { AppError, messageOf } from '../../../shared/error.ts'
import { ensureFolder, isRoot } from '../services/folders.ts'
import { runTool } from './tools.ts'

const FOLDER_ITSELF = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const OWNERS_ALONE = 0o700

/**
 * Copies a folder that its owner may be changing into a new one of the same owner, as that owner: a link that takes the place of a folder
 * between two looks leads only to where the owner could have gone anyway. Both folders are opened beforehand, so that the owner needs no
 * way to them.
 *
 * @throws AppError `unavailable` when there is no such folder, or something in it that its owner may not read.
 */
export async function copyFolder(from: string, to: string, options: { signal?: AbortSignal }): Promise<void> {
  const opened: number[] = []
  try {
    const source = openFolder(from, opened)
    const { uid, gid } = fstatSync(source)
    await ensureFolder(to, OWNERS_ALONE, { uid, gid })
    const target = openFolder(to, opened)
    const copy = ['cp', '--archive', '--reflink=auto', '--sparse=always', '--no-target-directory', '--']
    const argv = [...(await becomeOwner({ uid, gid })), ...copy, '/proc/self/fd/3/.', '/proc/self/fd/4/.']
    await runTool(argv, { ...options, inherit: [source, target] })
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

function openFolder(path: string, opened: number[]): number {
  try {
    const descriptor = openSync(path, FOLDER_ITSELF)
    opened.push(descriptor)
    return descriptor
  } catch (cause) {
    throw new AppError('unavailable', `The folder of the disk could not be opened: ${messageOf(cause)}`, { cause })
  }
}

/**
 * In a user namespace with nobody else in it the capabilities of root hold for the owner's files alone, such as one that the owner has taken
 * the right to read from. Where the machine allows no such namespace, these cannot be copied.
 */
async function becomeOwner({ uid, gid }: { uid: number; gid: number }): Promise<string[]> {
  if (!isRoot) return []
  const capabilities = ['--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all']
  const owner = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', ...capabilities]
  const alone = [...owner, 'unshare', '--user', '--map-current-user', '--keep-caps']
  const isAllowed = await runTool([...alone, 'true']).then(
    () => true,
    () => false,
  )
  return isAllowed ? alone : owner
}
