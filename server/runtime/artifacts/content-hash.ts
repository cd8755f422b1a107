import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

export type TreeEntry =
  | { path: string; kind: 'directory' }
  | { path: string; kind: 'file'; mode: number; sha256: string }
  | { path: string; kind: 'link'; target: string }

/** The content address of a tree: sha256, in hex, over its entries in the order of their paths. The root itself is no entry. */
export function digestTree(entries: Iterable<TreeEntry>): string {
  const hasher = new Bun.CryptoHasher('sha256')
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1))
  // A NUL ends each field: no path or target can hold one, so no two trees spell the same line.
  for (const entry of sorted) hasher.update(`${entryFields(entry).join('\0')}\0\n`)
  return hasher.digest('hex')
}

function entryFields(entry: TreeEntry): string[] {
  switch (entry.kind) {
    case 'directory':
      return ['directory', entry.path]
    case 'file':
      return ['file', entry.path, (entry.mode & 0o777).toString(8), entry.sha256]
    case 'link':
      return ['link', entry.path, entry.target]
  }
}

/** Links are read, never followed; sockets, fifos and devices are left out. @throws the signal's reason, and errors of the system. */
export async function hashTree(dir: string, options: { signal?: AbortSignal } = {}): Promise<string> {
  const entries: TreeEntry[] = []
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    options.signal?.throwIfAborted()
    const names = await readdir(join(dir, folder))
    const found = await Promise.all(names.map((name) => readEntry(dir, folder === '' ? name : `${folder}/${name}`)))
    for (const entry of found) {
      if (entry === undefined) continue
      entries.push(entry)
      if (entry.kind === 'directory') folders.push(entry.path)
    }
  }
  return digestTree(entries)
}

async function readEntry(dir: string, path: string): Promise<TreeEntry | undefined> {
  const absolute = join(dir, path)
  const stats = await lstat(absolute)
  if (stats.isDirectory()) return { path, kind: 'directory' }
  if (stats.isSymbolicLink()) return { path, kind: 'link', target: await readlink(absolute) }
  if (stats.isFile()) return { path, kind: 'file', mode: stats.mode, sha256: await hashFile(absolute, stats.size) }
  return undefined
}

const READ_AT_ONCE_BYTES = 1024 * 1024

async function hashFile(path: string, sizeBytes: number): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256')
  if (sizeBytes <= READ_AT_ONCE_BYTES) return hasher.update(await readFile(path)).digest('hex')
  for await (const chunk of createReadStream(path)) hasher.update(chunk)
  return hasher.digest('hex')
}
