import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type ExtractEvents, extract, type Pack, pack } from 'tar-stream'

type Entry = ExtractEvents['entry'][1]

/** One tar of the entries of several, in their order; the next is asked for when the one before has been taken. */
export function joinTars(tars: AsyncIterable<AsyncIterable<Uint8Array>>): { joined: Pack; done: Promise<void> } {
  const joined = pack()
  const done = addAll(tars, joined).catch((error: Error) => {
    joined.destroy(error)
    throw error
  })
  done.catch(() => {})
  return { joined, done }
}

async function addAll(tars: AsyncIterable<AsyncIterable<Uint8Array>>, joined: Pack): Promise<void> {
  for await (const tar of tars) {
    const parser = extract()
    const flow = pipeline(Readable.from(tar), parser)
    // Whatever ends the flow also ends the parser, and is thrown where its entries are read.
    flow.catch(() => {})
    for await (const entry of parser) await addEntry(entry, joined)
    await flow
  }
  joined.finalize()
}

async function addEntry(entry: Entry, joined: Pack): Promise<void> {
  const { name, mode, type, linkname, mtime, size } = entry.header
  const copied = Promise.withResolvers<void>()
  const sink = joined.entry({ name, mode, type, linkname, mtime, size }, (error) => (error ? copied.reject(error) : copied.resolve()))
  if (type === 'file') await pipeline(entry, sink)
  else entry.resume()
  await copied.promise
}
