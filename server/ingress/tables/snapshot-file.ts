import { readFile } from 'node:fs/promises'
import { replaceFile } from '../../platform/files/replace-file.ts'

/** Keeps the last applied table for the next start: on disk when this resolves, whole or not at all. */
export async function saveSnapshot(path: string, text: string): Promise<void> {
  // During a hand-over two processes save the same table.
  await replaceFile(path, text, { incoming: `${path}.${process.pid}.new` })
}

export async function loadSnapshot<T>(path: string, parse: (value: unknown) => T): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  return text === undefined ? undefined : parse(JSON.parse(text))
}
