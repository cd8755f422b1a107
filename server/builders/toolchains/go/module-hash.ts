import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** The `h1:` hash of an unpacked module (golang.org/x/mod/sumdb/dirhash): a hash over the names and hashes of all files, sorted. */
export async function moduleHash(root: string, signal: AbortSignal): Promise<string> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => !entry.isDirectory()).map((entry) => relative(root, join(entry.parentPath, entry.name)))
  const sum = new Bun.CryptoHasher('sha256')
  for (const path of paths.sort()) sum.update(`${await hashFile(join(root, path), signal)}  ${path}\n`)
  return `h1:${sum.digest('base64')}`
}

async function hashFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  await pipeline(
    createReadStream(path),
    async (chunks) => {
      for await (const chunk of chunks) hash.update(chunk)
    },
    { signal },
  )
  return hash.digest('hex')
}
