import { constants } from 'node:fs'
import { chmod, chown, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { type Paths, servicePathsOf } from '../../../platform/paths.ts'
import { isRoot, removeServiceFolders } from '../../../platform/service-folders.ts'
import { materialFolder } from '../../backups/repository/layout.ts'
import type { AppContext } from '../../context.ts'
import type { StoredTransfer } from '../rows/store.ts'

/** The file of a transfer: what was exported, or the dump that was sent. */
export const fileOf = ({ transfers }: Pick<Paths, 'transfers'>, { id }: Pick<StoredTransfer, 'id'>): string => join(transfers, id)

const UNFOLLOWED = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Takes what a run has made out of its home folder, which nobody writes to any more. Its name there may be anything. @throws AppError
 * unavailable for what is no file of its own.
 */
export async function takeMade(paths: Paths, transfer: StoredTransfer, made: string): Promise<{ sizeBytes: number; sha256: string }> {
  const place = fileOf(paths, transfer)
  await rename(join(servicePathsOf(paths, transfer.id).home, made), place)
  const handle = await open(place, UNFOLLOWED)
  try {
    const stats = await handle.stat()
    if (!stats.isFile() || stats.nlink !== 1) throw new AppError('unavailable', 'The export is no file of its own.')
    if (isRoot) await handle.chown(0, 0)
    await handle.chmod(0o600)
    const hasher = new Bun.CryptoHasher('sha256')
    for await (const chunk of handle.createReadStream({ autoClose: false })) hasher.update(chunk)
    await handle.sync()
    return { sizeBytes: stats.size, sha256: hasher.digest('hex') }
  } finally {
    await handle.close()
  }
}

/** Makes a file or folder the user's that the tools of a transfer run as. */
export async function giveTo({ number }: Pick<StoredTransfer, 'number'>, path: string, mode: number): Promise<void> {
  await chmod(path, mode)
  if (isRoot) await chown(path, number, number)
}

/** Removes what the tools of a transfer have left, those of a process before this one as well. */
export async function clearRun(context: AppContext, { id }: Pick<StoredTransfer, 'id'>): Promise<void> {
  await context.work.awaited.end(id)
  await context.engine.removeOwner(id)
  await removeServiceFolders(context.paths, id)
  await removeTree(materialFolder(context.paths, id))
}
