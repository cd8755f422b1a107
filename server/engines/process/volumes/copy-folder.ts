import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { AppError, messageOf } from '../../../../shared/error.ts'
import { ensureFolder, isRoot } from '../../../platform/service-folders.ts'
import { runTool } from './tools.ts'

const FOLDER_ITSELF = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const OWNERS_ALONE = 0o700

/** Copied as the folder's owner: a link put in a folder's place leads only where the owner could have gone anyway. */
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

/** In a user namespace of its own root's capabilities hold for the owner's files alone, such as those the owner may not read. */
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
