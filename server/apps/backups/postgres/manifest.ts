import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { extract } from 'tar-stream'
import { BackupDamaged } from '../repository/pack.ts'

export const MANIFEST = 'backup_manifest'

/** A line for each file: some 20 MB are a hundred thousand tables. */
const MAX_MANIFEST_BYTES = 128 * 1024 * 1024

const Manifest = Type.Object({
  'WAL-Ranges': Type.Array(Type.Object({ Timeline: Type.Integer(), 'Start-LSN': Type.String(), 'End-LSN': Type.String() }), {
    minItems: 1,
  }),
})

export interface WalRange {
  timeline: number
  startLsn: string
  endLsn: string
}

/** The part of the log that a backup needs to be consistent. @throws BackupDamaged for what is no manifest. */
export function walRangeOf(manifest: Uint8Array): WalRange {
  const parsed = parse(manifest)
  if (!Value.Check(Manifest, parsed)) throw new BackupDamaged('its manifest does not say which part of the log it needs')
  const ranges = parsed['WAL-Ranges']
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (first === undefined || last === undefined) throw new BackupDamaged('its manifest names no part of the log')
  return { timeline: last.Timeline, startLsn: first['Start-LSN'], endLsn: last['End-LSN'] }
}

function parse(manifest: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(manifest))
  } catch (cause) {
    throw new BackupDamaged('its manifest cannot be read', cause)
  }
}

export interface ManifestReader {
  through(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>
  /** The manifest that stood in it. @throws BackupDamaged where there was none. */
  manifest(): Uint8Array
}

export function manifestReader(): ManifestReader {
  const parts: Uint8Array[] = []
  let size = 0
  const tar = extract()
  tar.on('entry', ({ name }, entry, next) => {
    entry.on('end', next)
    if (name !== MANIFEST) return void entry.resume()
    entry.on('data', (part) => {
      const bytes = part as Uint8Array
      size += bytes.length
      if (size > MAX_MANIFEST_BYTES) tar.destroy(new Error('The manifest is too large'))
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
    manifest() {
      if (parts.length === 0) throw new BackupDamaged('it has no manifest')
      return Buffer.concat(parts)
    },
  }
}
