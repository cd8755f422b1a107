import { AppError } from '../../shared/error.ts'
import { parseRouteTable } from './route-table.ts'
import type { Router } from './router.ts'
import { saveSnapshot } from './snapshot-file.ts'

/** Which snapshot is applied, and who published it. */
interface Publication {
  /** Random for each process that publishes. */
  publisher: string
  version: number
}

export interface PublicationOptions {
  router: Router
  routesFilePath: string
  /** Whether the file is a successor's by now: what it holds may be newer. */
  isSucceeded(): boolean
}

/** Saves and applies one snapshot after the other, in the order they came. */
export function publishTo({
  router,
  routesFilePath,
  isSucceeded,
}: PublicationOptions): (publisher: string, table: unknown) => Promise<void> {
  let applied: Publication | undefined
  let last: Promise<void> = Promise.resolve()
  const publish = async (publisher: string, value: unknown) => {
    const table = parseRouteTable(value)
    const offered = { publisher, version: table.version }
    refuseOvertaken(applied, offered)
    if (!isSucceeded()) await saveSnapshot(routesFilePath, table)
    router.apply(table)
    applied = offered
  }
  return (publisher, value) => {
    const next = last.then(() => publish(publisher, value))
    last = next.catch(() => undefined)
    return next
  }
}

/**
 * Refuses a snapshot that was overtaken on its way. Only versions of the same publisher say which is newer: a control plane that
 * starts anew is the truth whatever its version, as its database may have been restored from a backup.
 *
 * @throws AppError `conflict`.
 */
function refuseOvertaken(applied: Publication | undefined, offered: Publication): void {
  if (applied === undefined || applied.publisher !== offered.publisher || offered.version >= applied.version) return
  throw new AppError('conflict', `Route table ${offered.version} is older than ${applied.version}, which is applied already.`)
}
