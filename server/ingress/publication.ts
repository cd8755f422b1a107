import { AppError } from '../../shared/error.ts'

/** Which snapshot is applied, and who published it. */
export interface Publication {
  /** Random for each process that publishes. */
  publisher: string
  version: number
}

/**
 * Refuses a snapshot that was overtaken on its way. Only versions of the same publisher say which is newer: a control plane that
 * starts anew is the truth whatever its version, as its database may have been restored from a backup.
 *
 * @throws AppError `conflict`.
 */
export function refuseOvertaken(applied: Publication | undefined, offered: Publication): void {
  if (applied === undefined || applied.publisher !== offered.publisher || offered.version >= applied.version) return
  throw new AppError('conflict', `Route table ${offered.version} is older than ${applied.version}, which is applied already.`)
}
