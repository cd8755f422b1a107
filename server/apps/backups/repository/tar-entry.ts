import { extract } from 'tar-stream'
import { BackupDamaged } from './pack.ts'

/** A line for each file of a database: some 20 MB are a hundred thousand tables. */
const MAX_ENTRY_BYTES = 128 * 1024 * 1024

export interface EntryReader {
  through(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>
  /** The content of the entry, once all has gone through. @throws BackupDamaged where there was none. */
  content(): Uint8Array
}

/** Keeps one file of an archive that goes through. */
export function entryReader(wanted: string): EntryReader {
  const parts: Uint8Array[] = []
  let size = 0
  const tar = extract()
  tar.on('entry', ({ name }, entry, next) => {
    entry.on('end', next)
    if (name !== wanted) return void entry.resume()
    entry.on('data', (part) => {
      const bytes = part as Uint8Array
      size += bytes.length
      if (size > MAX_ENTRY_BYTES) tar.destroy(new Error(`The file ${wanted} is too large`))
      else parts.push(bytes)
    })
  })
  return {
    async *through(archive) {
      const failed = Promise.withResolvers<never>()
      failed.promise.catch(() => {})
      tar.on('error', failed.reject)
      for await (const chunk of archive) {
        if (!tar.write(chunk)) await Promise.race([failed.promise, new Promise<void>((resolve) => void tar.once('drain', resolve))])
        yield chunk
      }
    },
    content() {
      if (parts.length === 0) throw new BackupDamaged(`it has no ${wanted}`)
      return Buffer.concat(parts)
    },
  }
}
