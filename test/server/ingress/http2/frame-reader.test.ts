import { expect, test } from 'vitest'
import { FrameReader } from '../../../../server/ingress/http2/frame-reader.ts'
import { stripPadding, stripPriority } from '../../../../server/ingress/http2/frame-rules.ts'
import { ConnectionError } from '../../../../server/ingress/http2/http2-error.ts'
import { randomFrom } from '../random.ts'
import { frame } from './h2-client.ts'

function readAll(bytes: Buffer, cut: (left: number) => number): string[] {
  const reader = new FrameReader(16_384)
  const seen: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const to = at + cut(bytes.length - at)
    reader.push(bytes.subarray(at, to))
    for (let next = reader.next(); next !== undefined; next = reader.next()) {
      seen.push(`${next.type} ${next.flags} ${next.streamId} ${Bun.hash(next.bytes.subarray(next.from, next.to))}`)
    }
    at = to
  }
  expect(reader.isInsideFrame).toBe(false)
  return seen
}

test('frames are read alike, however they are cut', () => {
  const random = randomFrom(11)
  const frames = Array.from({ length: 60 }, () =>
    frame(0, random(2), 1 + 2 * random(50), Buffer.alloc(random(random(4) === 0 ? 16_385 : 40), random(256))),
  )
  const bytes = Buffer.concat(frames)
  const whole = readAll(bytes, (left) => left)
  expect(whole).toHaveLength(60)
  expect(readAll(bytes, () => 1)).toEqual(whole)
  for (let round = 0; round < 20; round++) expect(readAll(bytes, (left) => Math.min(left, 1 + random(20_000)))).toEqual(whole)
})

test('the reserved bit of a stream id means nothing', () => {
  const bytes = frame(0, 0, 5, Buffer.from('x'))
  bytes[5] = 0x80
  const reader = new FrameReader(16_384)
  reader.push(bytes)
  expect(reader.next()?.streamId).toBe(5)
})

const wrong: [string, Buffer][] = [
  ['a frame larger than allowed', frame(0, 0, 1, Buffer.alloc(16_385))],
  ['DATA on the connection', frame(0, 0, 0, Buffer.alloc(1))],
  ['HEADERS on the connection', frame(1, 4, 0, Buffer.alloc(1))],
  ['SETTINGS on a stream', frame(4, 0, 1, Buffer.alloc(6))],
  ['SETTINGS of 5 bytes', frame(4, 0, 0, Buffer.alloc(5))],
  ['an acknowledgement with settings', frame(4, 1, 0, Buffer.alloc(6))],
  ['PING on a stream', frame(6, 0, 1, Buffer.alloc(8))],
  ['PING of 7 bytes', frame(6, 0, 0, Buffer.alloc(7))],
  ['RST_STREAM on the connection', frame(3, 0, 0, Buffer.alloc(4))],
  ['RST_STREAM of 3 bytes', frame(3, 0, 1, Buffer.alloc(3))],
  ['WINDOW_UPDATE of 5 bytes', frame(8, 0, 1, Buffer.alloc(5))],
  ['GOAWAY of 7 bytes', frame(7, 0, 0, Buffer.alloc(7))],
  ['CONTINUATION on the connection', frame(9, 4, 0, Buffer.alloc(1))],
]
test.each(wrong)('%s breaks the connection', (_name, bytes) => {
  const reader = new FrameReader(16_384)
  reader.push(bytes)
  expect(() => reader.next()).toThrow(ConnectionError)
})

test('padding and priority are taken off', () => {
  const reader = new FrameReader(16_384)
  reader.push(frame(1, 0x28, 3, Buffer.from([2, 0, 0, 0, 1, 16, 0x82, 0, 0])))
  const read = reader.next()
  if (read === undefined) throw new Error('no frame')
  stripPadding(read)
  expect(stripPriority(read)).toBe(false)
  expect([...read.bytes.subarray(read.from, read.to)]).toEqual([0x82])
})

test.each([
  ['padding longer than the frame', 8, [5, 1, 2]],
  ['padding of all of the frame and more', 8, [3, 1, 2]],
  ['padding without its length', 8, []],
])('%s breaks the connection', (_name, flags, payload) => {
  const reader = new FrameReader(16_384)
  reader.push(frame(0, flags, 3, Buffer.from(payload)))
  const read = reader.next()
  if (read === undefined) throw new Error('no frame')
  expect(() => stripPadding(read)).toThrow(ConnectionError)
})
