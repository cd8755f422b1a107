import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { extract, pack } from 'tar-stream'
import { expect, test } from 'vitest'
import { joinTars } from '../../../../../server/apps/repositories/fetch/submodules/join-tars.ts'
import { DEFAULT_EXTRACT_LIMITS } from '../../../../../server/platform/archives/rules.ts'

const MANY = 20_000
const SOME = 5000

/** A tar of these entries, in pieces of the size that a pipe gives. */
async function piecesOf(headers: readonly { name: string; type?: 'symlink' | 'directory'; linkname?: string; content?: string }[]) {
  const tar = pack()
  for (const { content = '', ...header } of headers) tar.entry(header, content)
  tar.finalize()
  const bytes = Buffer.concat(await Array.fromAsync(tar as AsyncIterable<Uint8Array>))
  return Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) => bytes.subarray(index * 65_536, (index + 1) * 65_536))
}

const emptyFiles = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `f${index}` }))

async function* one(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) {
  yield (async function* () {
    yield* pieces
  })()
}

async function namesIn(tar: AsyncIterable<Uint8Array>): Promise<string[]> {
  const names: string[] = []
  const parser = extract()
  parser.on('entry', ({ name }, entry, next) => {
    names.push(name)
    entry.on('end', next).resume()
  })
  await pipeline(Readable.from(tar), parser)
  return names
}

test('while many empty files are joined, the event loop turns', async () => {
  const pieces = await piecesOf(emptyFiles(MANY))
  let [turns, isOver] = [0, false]
  const turning = (async () => {
    for (; !isOver; turns += 1) await turn()
  })()
  const { joined, done } = joinTars(one(pieces), DEFAULT_EXTRACT_LIMITS)
  expect(await namesIn(joined as AsyncIterable<Uint8Array>)).toHaveLength(MANY)
  await done
  isOver = true
  await turning
  expect(turns).toBeGreaterThan(MANY / 100)
})

test.each([
  ['empty files', emptyFiles(SOME)],
  ['folders', emptyFiles(SOME).map(({ name }) => ({ name, type: 'directory' as const }))],
  ['links', emptyFiles(SOME).map(({ name }) => ({ name, type: 'symlink' as const, linkname: 'f' }))],
])('no more %s are read than somebody takes', async (_, headers) => {
  const pieces = await piecesOf(headers)
  let read = 0
  const counted = function* () {
    for (const piece of pieces) {
      read += 1
      yield piece
    }
  }
  const { joined, done } = joinTars(one(counted()), DEFAULT_EXTRACT_LIMITS)
  for (let turns = 0; turns < 2000; turns += 1) await turn()
  expect(read).toBeLessThan(10)
  joined.destroy()
  await expect(done).rejects.toThrow()
})

const bounds = { maxBytes: 1000, maxFiles: 100, maxNameBytes: 5000 }

test.each([
  ['files', emptyFiles(101), 'more than 100 files'],
  ['bytes', [{ name: 'large', content: 'x'.repeat(1001) }], 'more than 1000 bytes'],
  ['names', emptyFiles(60).map(({ name }) => ({ name: `${name}${'n'.repeat(90)}` })), 'more than 5000 bytes of file names'],
  ['targets', emptyFiles(60).map(({ name }) => ({ name, type: 'symlink' as const, linkname: 'n'.repeat(90) })), 'bytes of file names'],
])('more %s than an upload may have are refused before they are taken', async (_, headers, words) => {
  const { joined, done } = joinTars(one(await piecesOf(headers)), bounds)
  const taken = namesIn(joined as AsyncIterable<Uint8Array>)
  await expect(taken).rejects.toMatchObject({ code: 'payload_too_large', message: expect.stringContaining(words) })
  await expect(done).rejects.toMatchObject({ code: 'payload_too_large' })
})
