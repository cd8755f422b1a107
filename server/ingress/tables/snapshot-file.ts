import { readFile } from 'node:fs/promises'
import { replaceFile } from '../../platform/files/replace-file.ts'

/**
 * Keeps the last applied table, so that an ingress that starts serves what the one before it served. It is on disk when this resolves,
 * whole or not at all; requests are served meanwhile, as a slow disk may take its time.
 */
export async function saveSnapshot(path: string, text: string): Promise<void> {
  // During a hand-over two processes save the same table.
  await replaceFile(path, text, { incoming: `${path}.${process.pid}.new` })
}

/** The table last saved, read by `parse`; undefined before the first. @throws when the file is not such a table. */
export async function loadSnapshot<T>(path: string, parse: (value: unknown) => T): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : parse(JSON.parse(text))
}
