import { expect, test } from 'vitest'
import { makeEndMark } from '../../../../server/platform/process/end-mark.ts'

const text = (chunks: Uint8Array[]) => Buffer.concat(chunks).toString()
const isSeen = (seen: Promise<void>) => Promise.race([seen.then(() => true), Promise.resolve().then(() => Promise.resolve(false))])

test('wherever output is cut, all of it is shown and none of the mark', async () => {
  const { bytes } = makeEndMark()
  for (let at = 0; at <= bytes.length + 4; at++) {
    const mark = makeEndMark()
    const all = Buffer.concat([Buffer.from('end '), mark.bytes])
    expect(text([mark.take(all.subarray(0, at)), mark.take(all.subarray(at))])).toBe('end ')
    expect(await isSeen(mark.seen)).toBe(true)
  }
})

test('it may come byte by byte, with output behind it', () => {
  const mark = makeEndMark()
  const all = Buffer.concat([Buffer.from('before '), mark.bytes, Buffer.from(' behind')])
  expect(text([...all].map((byte) => mark.take(Buffer.of(byte))))).toBe('before  behind')
})

test('what only begins like the mark is held back until it turns out to be none', async () => {
  const mark = makeEndMark()
  const beginning = mark.bytes.subarray(0, 9)
  expect(text([mark.take(beginning)])).toBe('')
  expect(text([mark.take(beginning)])).toBe(text([beginning]))
  expect(text([mark.rest()])).toBe(text([beginning]))
  expect(text([mark.rest()])).toBe('')
  expect(await isSeen(mark.seen)).toBe(false)
})
