import { AppError } from '../../../shared/error.ts'
import { loadSnapshot, saveSnapshot } from './snapshot-file.ts'

export interface PublishedTable<T extends { version: number }> {
  name: string
  filePath: string
  parse(value: unknown): T
  apply(table: T): void
  log(line: string): void
}

export interface TableChanges<T, C extends { base: number; version: number }> {
  parse(value: unknown): C
  applyTo(table: T, changes: C): T
}

export type Publish = (publisher: string, text: string) => Promise<void>

export interface Publication<T> {
  publish: Publish
  /** @throws AppError `conflict` when the base of the changes is not what this publisher has published last. */
  publishChanges<C extends { base: number; version: number }>(changes: TableChanges<T, C>): Publish
}

interface Applied<T> {
  publisher: string
  table: T
}

export function publicationOf<T extends { version: number }>(published: PublishedTable<T>, isSucceeded: () => boolean): Publication<T> {
  let applied: Applied<T> | undefined
  let last: Promise<void> = Promise.resolve()

  async function take(publisher: string, table: T, text: string): Promise<void> {
    if (!isSucceeded()) await saveSnapshot(published.filePath, text)
    published.apply(table)
    applied = { publisher, table }
  }

  const inOrder =
    (work: Publish): Publish =>
    (publisher, text) => {
      const next = last.then(() => work(publisher, text))
      last = next.catch(() => undefined)
      return next
    }

  return {
    publish: inOrder(async (publisher, text) => {
      const table = published.parse(jsonOf(text))
      refuseOvertaken(applied, { publisher, table }, published.name)
      await take(publisher, table, text)
    }),
    publishChanges: (changes) =>
      inOrder(async (publisher, text) => {
        const parsed = changes.parse(jsonOf(text))
        if (applied?.publisher !== publisher || applied.table.version !== parsed.base) throw noBase(parsed.base, published.name)
        const table = changes.applyTo(applied.table, parsed)
        await take(publisher, table, JSON.stringify(table))
      }),
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
 * Refuses a table that was overtaken on its way. Only versions of the same publisher say which is newer: a control plane that
 * starts anew is the truth whatever its version, as its database may have been restored from a backup.
 *
 * @throws AppError `conflict`.
 */
function refuseOvertaken<T extends { version: number }>(applied: Applied<T> | undefined, offered: Applied<T>, name: string): void {
  const [known, next] = [applied?.table.version ?? 0, offered.table.version]
  if (applied?.publisher !== offered.publisher || next >= known) return
  throw new AppError('conflict', `Version ${next} of the ${name} is older than ${known}, which is applied already.`)
}

const noBase = (base: number, name: string): AppError =>
  new AppError('conflict', `These changes are to version ${base} of the ${name}, which is not the one applied.`)
