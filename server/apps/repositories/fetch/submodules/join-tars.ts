import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { Readable as TarReadable } from 'streamx'
import { type ExtractEvents, extract, type Header, type Pack, pack } from 'tar-stream'
import { AppError } from '../../../../../shared/error.ts'
import type { ExtractLimits } from '../../../../platform/archives/rules.ts'

type Entry = ExtractEvents['entry'][1]
type Tar = AsyncIterable<Uint8Array>
type Limits = Pick<ExtractLimits, 'maxBytes' | 'maxFiles' | 'maxNameBytes'>

interface Joined {
  tar: Pack
  limits: Limits
  entries: number
  bytes: number
  nameBytes: number
}

/** One tar of the entries of several, in their order; the next is asked for when the one before has been taken. */
export function joinTars(tars: AsyncIterable<Tar>, limits: Limits): { joined: Pack; done: Promise<void> } {
  const joined = pack()
  const done = addAll(tars, { tar: joined, limits, entries: 0, bytes: 0, nameBytes: 0 }).catch((error: Error) => {
    joined.destroy(error)
    throw error
  })
  done.catch(() => {})
  return { joined, done }
}

async function addAll(tars: AsyncIterable<Tar>, joined: Joined): Promise<void> {
  for await (const tar of tars) {
    const parser = extract()
    const flow = pipeline(Readable.from(tar), parser)
    // Whatever ends the flow also ends the parser, and is thrown where its entries are read.
    flow.catch(() => {})
    for await (const entry of parser) {
      count(joined, entry.header)
      await addEntry(entry, joined.tar)
      await giveWay(joined)
    }
    await flow
  }
  joined.tar.finalize()
}

/** The bounds of what is unpacked later hold before anything is taken, as a tree of a few objects can name millions of files. */
function count(joined: Joined, { name, linkname, size }: Header): void {
  const { limits } = joined
  joined.entries += 1
  joined.bytes += size
  joined.nameBytes += Buffer.byteLength(name) + Buffer.byteLength(linkname ?? '')
  if (joined.entries > limits.maxFiles) throw tooLarge(`${limits.maxFiles} files`)
  if (joined.bytes > limits.maxBytes) throw tooLarge(`${limits.maxBytes} bytes`)
  if (joined.nameBytes > limits.maxNameBytes) throw tooLarge(`${limits.maxNameBytes} bytes of file names`)
}

const tooLarge = (bound: string): AppError =>
  new AppError('payload_too_large', `With its submodules it holds more than ${bound}. Have less in it, or have the build command fetch it.`)

async function addEntry(entry: Entry, joined: Pack): Promise<void> {
  const { name, mode, type, linkname, mtime, size } = entry.header
  const copied = Promise.withResolvers<void>()
  const sink = joined.entry({ name, mode, type, linkname, mtime, size }, (error) => (error ? copied.reject(error) : copied.resolve()))
  if (type === 'file') await pipeline(entry, sink)
  else entry.resume()
  await copied.promise
}

const ENTRIES_IN_A_ROW = 32
const FULL_MS = 1

/** Content waits for whoever takes the tar; folders, links and empty files would all be taken at once, in one turn of the event loop. */
async function giveWay({ tar, entries }: Joined): Promise<void> {
  if (entries % ENTRIES_IN_A_ROW === 0) await setImmediate()
  while (TarReadable.isBackpressured(tar) && !tar.destroying) await setTimeout(FULL_MS)
}
