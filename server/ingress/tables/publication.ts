import { AppError } from '../../../shared/error.ts'
import { loadSnapshot, saveSnapshot } from './snapshot-file.ts'

/** Which snapshot is applied, and who published it. */
interface Publication {
  /** Random for each process that publishes. */
  publisher: string
  version: number
}

/** A table that the control plane publishes as a whole, and that is kept on disk. */
export interface PublishedTable<T extends { version: number }> {
  /** In messages, as in "the saved … could not be read". */
  name: string
  filePath: string
  /** @throws AppError `validation_failed`. */
  parse(value: unknown): T
  apply(table: T): void
  log(line: string): void
}

/** Takes a snapshot as it was received, JSON. */
export type Publish = (publisher: string, text: string) => Promise<void>

/** Saves and applies one snapshot after the other, in the order they came. `isSucceeded`: the file is a successor's, and may be newer. */
export function publishTo<T extends { version: number }>(table: PublishedTable<T>, isSucceeded: () => boolean): Publish {
  let applied: Publication | undefined
  let last: Promise<void> = Promise.resolve()
  const publish = async (publisher: string, text: string) => {
    const parsed = table.parse(jsonOf(text))
    const offered = { publisher, version: parsed.version }
    refuseOvertaken(applied, offered, table.name)
    if (!isSucceeded()) await saveSnapshot(table.filePath, text)
    table.apply(parsed)
    applied = offered
  }
  return (publisher, text) => {
    const next = last.then(() => publish(publisher, text))
    last = next.catch(() => undefined)
    return next
  }
}

/** Applies what was saved last. What cannot be read must not keep the ingress from starting: the control plane publishes it anew. */
export async function restore<T extends { version: number }>({ name, filePath, parse, apply, log }: PublishedTable<T>): Promise<void> {
  try {
    const saved = await loadSnapshot(filePath, parse)
    if (saved !== undefined) apply(saved)
  } catch (error) {
    log(`The saved ${name} could not be read and is left out: ${error instanceof Error ? error.message : error}`)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('validation_failed', 'The snapshot is not JSON', { cause })
  }
}

/**
 * Refuses a snapshot that was overtaken on its way. Only versions of the same publisher say which is newer: a control plane that
 * starts anew is the truth whatever its version, as its database may have been restored from a backup.
 *
 * @throws AppError `conflict`.
 */
function refuseOvertaken(applied: Publication | undefined, offered: Publication, name: string): void {
  if (applied === undefined || applied.publisher !== offered.publisher || offered.version >= applied.version) return
  throw new AppError('conflict', `Version ${offered.version} of the ${name} is older than ${applied.version}, which is applied already.`)
}
