import { crc32 } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { type ExtractLimits, RATIO_FLOOR_BYTES, refuseArchive, refuseEntry } from './rules.ts'
import type { ExtractTarget } from './target.ts'

interface ZipSource {
  path: string
  limits: ExtractLimits
  signal?: AbortSignal | undefined
}

/** Unpacks a zip into `target`. The central directory is believed only where the local headers say the same. */
export async function extractZip(source: ZipSource, target: ExtractTarget): Promise<void> {
  const zip = await openPromise(source.path, { strictFileNames: true, validateEntrySizes: true, decodeStrings: true, autoClose: false })
  try {
    if (zip.entryCount > source.limits.maxFiles) throw refuseArchive(`it holds more than ${source.limits.maxFiles} files`)
    const entries: Entry[] = []
    for await (const entry of zip.eachEntry()) entries.push(entry)
    checkSizes(entries, zip.fileSize, source.limits)
    const ends = new Map<Entry, number>()
    for (const entry of entries) ends.set(entry, await checkLocalHeader(zip, entry))
    checkOverlap(ends)
    for (const entry of entries) {
      source.signal?.throwIfAborted()
      await addEntry(zip, entry, target)
    }
  } finally {
    zip.close()
  }
}

/** Sizes are declared in advance and yauzl holds each stream to its own, so a bomb is refused before it is opened. */
function checkSizes(entries: readonly Entry[], archiveBytes: number, limits: ExtractLimits): void {
  const bytes = entries.reduce((sum, entry) => sum + entry.uncompressedSize, 0)
  if (bytes > limits.maxBytes) throw refuseArchive(`it unpacks to more than ${limits.maxBytes} bytes`)
  if (bytes > RATIO_FLOOR_BYTES && bytes > archiveBytes * limits.maxRatio)
    throw refuseArchive(`it unpacks to more than ${limits.maxRatio} times its size`)
}

async function checkLocalHeader(zip: ZipFile, entry: Entry): Promise<number> {
  if (entry.isEncrypted()) throw refuseEntry(entry.fileName, 'is encrypted; pack the archive without a password')
  if (!entry.canDecodeFileData()) throw refuseEntry(entry.fileName, 'is compressed in an unknown way; pack the archive with deflate')
  const local = await zip.readLocalFileHeaderPromise(entry)
  if (!local.fileName.equals(entry.fileNameRaw)) throw refuseEntry(entry.fileName, 'has another name in its local header')
  if (local.compressionMethod !== entry.compressionMethod) throw refuseEntry(entry.fileName, 'is described differently in its local header')
  return local.fileDataStart + entry.compressedSize
}

/** Entries that share bytes make a small zip unpack to a huge tree without any single entry looking strange. */
function checkOverlap(ends: ReadonlyMap<Entry, number>): void {
  const inOrder = [...ends].sort(([a], [b]) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)
  let previousEnd = 0
  for (const [entry, end] of inOrder) {
    if (entry.relativeOffsetOfLocalHeader < previousEnd) throw refuseEntry(entry.fileName, 'shares its bytes with another file')
    previousEnd = end
  }
}

const MADE_ON_UNIX = 3
const MADE_ON_DARWIN = 19
const FILE_TYPE_MASK = 0o170000
const DIRECTORY = 0o040000
const REGULAR = 0o100000
const SYMLINK = 0o120000

async function addEntry(zip: ZipFile, entry: Entry, target: ExtractTarget): Promise<void> {
  const name = entry.fileName
  const mode = unixMode(entry)
  const type = mode & FILE_TYPE_MASK
  if (name.endsWith('/')) {
    if ((type !== 0 && type !== DIRECTORY) || entry.uncompressedSize !== 0) throw refuseEntry(name, 'is a folder with content')
    return target.addDirectory(name)
  }
  if (type === SYMLINK) return target.addSymlink(name, await readLinkTarget(zip, entry))
  if (type !== 0 && type !== REGULAR) throw refuseEntry(name, 'is neither a file, a folder nor a link')
  return target.addFile(name, mode, readChecked(zip, entry))
}

function unixMode(entry: Entry): number {
  const madeOn = entry.versionMadeBy >>> 8
  return madeOn === MADE_ON_UNIX || madeOn === MADE_ON_DARWIN ? entry.externalFileAttributes >>> 16 : 0
}

async function* readChecked(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  let sum = 0
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (sum !== entry.crc32) throw refuseEntry(entry.fileName, 'is damaged: its checksum is wrong')
}

const MAX_LINK_TARGET_BYTES = 4096

async function readLinkTarget(zip: ZipFile, entry: Entry): Promise<string> {
  if (entry.uncompressedSize > MAX_LINK_TARGET_BYTES) throw refuseEntry(entry.fileName, 'is a link with too long a target')
  return Buffer.concat(await Array.fromAsync(readChecked(zip, entry))).toString('utf8')
}
