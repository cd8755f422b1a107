import { Buffer } from 'node:buffer'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'

export type TarEntry = Partial<Header> & { name: string; content?: string | Uint8Array }

/** The bytes of a tar with these entries, written as they are: nothing is checked or corrected. */
export async function tar(entries: readonly TarEntry[]): Promise<Buffer> {
  const packed = pack()
  for (const { content, ...header } of entries) {
    const entry = { mode: 0o644, mtime: new Date(0), ...header }
    if (content === undefined) packed.entry({ ...entry, size: entry.size ?? 0 }).end(undefined)
    else packed.entry(entry, typeof content === 'string' ? Buffer.from(content) : Buffer.from(content))
  }
  packed.finalize()
  const chunks: Uint8Array[] = []
  for await (const chunk of packed) if (chunk instanceof Uint8Array) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export const tarGz = async (entries: readonly TarEntry[]): Promise<Buffer> => gzipSync(await tar(entries))

export interface ZipEntry {
  name: string
  content?: string | Uint8Array
  /** Unix mode with its type bits, e.g. 0o120777 for a link; absent: made on DOS, without a mode. */
  mode?: number
  localName?: string
  flags?: number
  method?: number
  crc?: number
  /** Offset of another entry's local header, to make two entries share bytes. */
  shares?: number
}

/** The bytes of a zip with these entries; every lie the fields allow is told. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const bodies: Buffer[] = []
  const central: Buffer[] = []
  const offsets: number[] = []
  let offset = 0
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? '')
    const method = entry.method ?? 8
    const data = method === 8 ? deflateRawSync(content) : content
    const name = Buffer.from(entry.name)
    const fields = { entry, method, sum: entry.crc ?? crc32(content), packed: data.length, size: content.length }
    const local = Buffer.concat([localHeader(fields), data])
    const at = entry.shares === undefined ? offset : (offsets[entry.shares] ?? 0)
    offsets.push(at)
    central.push(centralHeader(fields, name, at))
    if (entry.shares !== undefined) continue
    bodies.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, directory, end])
}

interface ZipFields {
  entry: ZipEntry
  method: number
  sum: number
  packed: number
  size: number
}

function localHeader({ entry, method, sum, packed, size }: ZipFields): Buffer {
  const name = Buffer.from(entry.localName ?? entry.name)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(20, 4)
  header.writeUInt16LE(entry.flags ?? 0x800, 6)
  header.writeUInt16LE(method, 8)
  header.writeUInt32LE(sum, 14)
  header.writeUInt32LE(packed, 18)
  header.writeUInt32LE(size, 22)
  header.writeUInt16LE(name.length, 26)
  return Buffer.concat([header, name])
}

function centralHeader({ entry, method, sum, packed, size }: ZipFields, name: Buffer, offset: number): Buffer {
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(entry.mode === undefined ? 20 : (3 << 8) | 20, 4)
  header.writeUInt16LE(20, 6)
  header.writeUInt16LE(entry.flags ?? 0x800, 8)
  header.writeUInt16LE(method, 10)
  header.writeUInt32LE(sum, 16)
  header.writeUInt32LE(packed, 20)
  header.writeUInt32LE(size, 24)
  header.writeUInt16LE(name.length, 28)
  header.writeUInt32LE(((entry.mode ?? 0) << 16) >>> 0, 38)
  header.writeUInt32LE(offset, 42)
  return Buffer.concat([header, name])
}
