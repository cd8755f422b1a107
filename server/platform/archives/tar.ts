import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type ExtractEvents, extract, type Header } from 'tar-stream'
import { type ExtractLimits, RATIO_FLOOR_BYTES, refuseArchive, refuseEntry } from './rules.ts'
import type { ExtractTarget } from './target.ts'

interface TarSource {
  path: string
  limits: ExtractLimits
  signal?: AbortSignal | undefined
}

export async function extractTar(source: TarSource, target: ExtractTarget): Promise<void> {
  const parser = extract()
  // The gunzip of the web's streams, because it refuses a cut off stream and bytes behind its end.
  const unzipped = Bun.file(source.path).stream().pipeThrough(new DecompressionStream('gzip'))
  const flow = pipeline(Readable.from(meter(unzipped, source)), parser)
  // Whatever ends the flow also ends the parser, and is thrown where its entries are read.
  flow.catch(() => {})
  for await (const entry of parser) await addEntry(entry, target)
  await flow
}

const TAR_BYTES_PER_FILE = 4096
const TAR_BLOCK_BYTES = 512

async function* meter(chunks: AsyncIterable<Uint8Array>, { path, limits, signal }: TarSource): AsyncGenerator<Uint8Array> {
  const archiveBytes = Bun.file(path).size
  const mostBytes = limits.maxBytes + limits.maxFiles * TAR_BYTES_PER_FILE
  let bytes = 0
  let last = new Uint8Array()
  for await (const chunk of chunks) {
    signal?.throwIfAborted()
    bytes += chunk.length
    if (bytes > mostBytes) throw refuseArchive(`it unpacks to more than ${limits.maxBytes} bytes`)
    if (bytes > RATIO_FLOOR_BYTES && bytes > archiveBytes * limits.maxRatio) {
      throw refuseArchive(`it unpacks to more than ${limits.maxRatio} times its size`)
    }
    last = lastBlock(last, chunk)
    yield chunk
  }
  if (last.length < TAR_BLOCK_BYTES || last.some((byte) => byte !== 0))
    throw refuseArchive('it is cut off: the end mark of the tar is missing')
}

function lastBlock(before: Uint8Array, chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  if (chunk.length >= TAR_BLOCK_BYTES) return chunk.slice(-TAR_BLOCK_BYTES)
  return new Uint8Array(Buffer.concat([before, chunk]).subarray(-TAR_BLOCK_BYTES))
}

type TarEntry = ExtractEvents['entry'][1]

async function addEntry(entry: TarEntry, target: ExtractTarget): Promise<void> {
  const { header } = entry
  const { name } = header
  if (isSparse(header)) throw refuseEntry(name, 'is a sparse file; pack the archive without --sparse')
  switch (header.type) {
    case 'file':
    case 'contiguous-file':
      if (name.endsWith('/')) break
      return target.addFile(name, header.mode, contentOf(entry))
    case 'directory':
      break
    case 'symlink':
      target.addSymlink(name, header.linkname ?? '')
      return skip(entry)
    case 'link':
      await target.addHardLink(name, header.linkname ?? '')
      return skip(entry)
    default:
      throw refuseEntry(name, 'is neither a file, a folder nor a link')
  }
  await target.addDirectory(name)
  return skip(entry)
}

async function* contentOf(entry: TarEntry): AsyncGenerator<Uint8Array> {
  for await (const chunk of entry) {
    if (chunk instanceof Uint8Array) yield chunk
  }
}

/** The content of a sparse file is a list of its pieces, which must not be taken for the file itself. */
function isSparse(header: Header): boolean {
  return Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse'))
}

async function skip(entry: TarEntry): Promise<void> {
  for await (const _ of entry) {
  }
}
