import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const OWNER_ONLY = 0o600

/** Replaces a small file, whole or not at all; it is on disk when this returns. Readable by us alone. */
export function writeDurably(path: string, content: string): void {
  const incoming = `${path}.new`
  writeFileSync(incoming, content, { mode: OWNER_ONLY, flush: true })
  renameSync(incoming, path)
  syncFolder(dirname(path))
}

/** Names given and taken in a folder survive a loss of power once this has returned. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The text of a file, or undefined where there is none. */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
