import { chmod, mkdir } from 'node:fs/promises'
import { AppError, messageOf } from '../../../shared/error.ts'
import type { Paths } from '../../platform/paths.ts'

const OWN = 0o700
/** Services' users pass through these on the way to their own folders, and can list nothing. */
const PASS_THROUGH = 0o711

export async function ensureDataFolders(paths: Paths): Promise<void> {
  try {
    for (const folder of [paths.data, paths.services, paths.disks, paths.engines, paths.backups, paths.fetches])
      await ensure(folder, PASS_THROUGH)
    for (const folder of [paths.db, paths.run, paths.accessLogs, paths.uploads, paths.transfers]) await ensure(folder, OWN)
  } catch (cause) {
    const reason = messageOf(cause)
    throw new AppError('unavailable', `The data directory ${paths.data} can't be used (${reason}). Give another with --data.`, { cause })
  }
}

async function ensure(folder: string, mode: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode })
  await chmod(folder, mode)
}
