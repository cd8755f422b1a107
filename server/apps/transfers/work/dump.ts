import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { AppError } from '../../../../shared/error.ts'
import { isDiskFull } from '../../../platform/files/disk-full.ts'
import type { AppContext } from '../../context.ts'
import type { StoredTransfer } from '../rows/store.ts'
import { type DumpFormat, formatOf, HEAD_BYTES, packingOf } from '../tools/format.ts'
import { fileOf, giveTo } from './folders.ts'

interface Laying {
  transfer: StoredTransfer
  to: string
  maxBytes: number
  signal: AbortSignal
}

/** Lays the dump that was sent where its tools read it, unpacked. Returns what it is. @throws AppError unavailable for what is none. */
export async function layDump({ paths }: AppContext, { transfer, to, maxBytes, signal }: Laying): Promise<DumpFormat> {
  const path = fileOf(paths, transfer)
  const packing = packingOf(await headOf(path))
  const unpack = packing === 'gzip' ? [createGunzip()] : packing === 'zstd' ? [createZstdDecompress()] : []
  try {
    await pipeline([createReadStream(path), ...unpack, bounded(maxBytes), createWriteStream(to, { flags: 'wx', mode: 0o400 })], { signal })
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof AppError || isDiskFull(cause)) throw cause
    throw new AppError('unavailable', 'The file is damaged, or was cut off: it cannot be unpacked. Make the dump again.', { cause })
  }
  await giveTo(transfer, to, 0o400)
  const format = formatOf(await headOf(to))
  if (format !== undefined) return format
  throw new AppError('unavailable', 'The file is no dump that can be imported. Make one by pg_dump --format=custom.')
}

export async function headOf(path: string): Promise<Buffer> {
  const handle = await open(path)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

function bounded(maxBytes: number): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Uint8Array, _, done) {
      bytes += chunk.length
      if (bytes <= maxBytes) return done(null, chunk)
      done(
        new AppError('unavailable', 'Unpacked, the dump is more than the disk of the database can hold. Make that larger, then try again.'),
      )
    },
  })
}
