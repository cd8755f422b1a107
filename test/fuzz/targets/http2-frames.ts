import { type Frame, FrameType } from '../../../server/ingress/http2/frame.ts'
import { FrameReader } from '../../../server/ingress/http2/frame-reader.ts'
import { stripPadding, stripPriority } from '../../../server/ingress/http2/frame-rules.ts'
import { ConnectionError } from '../../../server/ingress/http2/http2-error.ts'
import { Comparison } from '../base/comparison.ts'
import type { FuzzTarget } from '../base/target.ts'
import type { Oracle } from '../oracle/oracle.ts'
import { cut } from './request-head.ts'

const MAX_FRAME_BYTES = 16_384

interface Reading {
  /** Type, flags, stream, and in hexadecimal what it carries, without padding. */
  frames: string[]
  refusal: ConnectionError | undefined
  isInsideFrame: boolean
}

/** The frames of one connection: in one piece and in several, beside a cutter of three lines and Go's framer. */
export function http2FramesTarget(oracles: readonly Oracle[]): FuzzTarget {
  const comparison = new Comparison(oracles)
  return {
    name: 'http2-frames',
    seeds,
    dictionary,
    check(input, random) {
      const whole = readIn([input])
      const pieces = readIn(cut(input, random))
      if (JSON.stringify(whole) !== JSON.stringify(pieces))
        throw new Error(`in pieces ${JSON.stringify(pieces)}, whole ${JSON.stringify(whole)}`)
      refuseOtherCut(input, whole)
      if (whole.frames.length > 0)
        comparison.add(
          { kind: 'f', bytes: Buffer.from(input) },
          { text: whole.frames.join(' '), isRefused: whole.refusal !== undefined },
          input,
        )
      const types = whole.frames.slice(0, 3).map((frame) => `${Math.min(10, Number.parseInt(frame, 10))}${frame.endsWith('|') ? '' : '+'}`)
      return `${whole.refusal?.message.replace(/\d+/g, 'n') ?? 'read'}/${types.join()} ${whole.isInsideFrame}`
    },
    compare: () => comparison.compare(),
    compared: () => comparison.counts(),
    close: () => comparison.stop(),
  }
}

function readIn(pieces: readonly Buffer[]): Reading {
  const reader = new FrameReader(MAX_FRAME_BYTES)
  const frames: string[] = []
  try {
    for (const piece of pieces) {
      reader.push(piece)
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(carried(frame))
    }
  } catch (refusal) {
    if (!(refusal instanceof ConnectionError)) throw refusal
    return { frames, refusal, isInsideFrame: false }
  }
  return { frames, refusal: undefined, isInsideFrame: reader.isInsideFrame }
}

function carried(frame: Frame): string {
  const { type, flags, streamId } = frame
  if (type === FrameType.data || type === FrameType.headers) stripPadding(frame)
  if (type === FrameType.headers) stripPriority(frame)
  if (frame.from > frame.to || frame.to > frame.bytes.length) throw new Error('a frame ends before it begins, or behind its bytes')
  // The oracle shows what it has made of the others.
  const isShown = type === FrameType.data || type === FrameType.headers || type === FrameType.ping || type >= FrameType.continuation
  return [type, flags, streamId, isShown ? frame.bytes.toString('hex', frame.from, frame.to) : ''].join('|')
}

/** What was taken as frames must lie where their lengths say. */
function refuseOtherCut(input: Buffer, { frames, refusal, isInsideFrame }: Reading): void {
  let at = 0
  for (const frame of frames) {
    const expected = [input[at + 3], input[at + 4], input.readUInt32BE(at + 5) % 2 ** 31]
    if (!frame.startsWith(`${expected.join('|')}|`)) throw new Error(`${frame} stands at ${at}, where ${expected} is`)
    at += 9 + input.readUIntBE(at, 3)
  }
  if (at > input.length) throw new Error('a frame was taken before it was whole')
  if (refusal === undefined && isInsideFrame !== at < input.length) throw new Error('it does not know whether a frame has begun')
  if (refusal === undefined && input.length - at >= 9 && input.length - at >= 9 + input.readUIntBE(at, 3))
    throw new Error('a whole frame was left behind')
}

function frame(type: number, flags: number, streamId: number, payload: string): string {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(streamId, 5)
  return header.toString('latin1') + payload
}

const request = '\x82\x86\x84\x41\x01a'

const seeds = [
  frame(4, 0, 0, '\x00\x03\x00\x00\x00\x64') + frame(1, 5, 1, request) + frame(8, 0, 0, '\x00\x00\x10\x00'),
  frame(1, 4, 1, request) + frame(0, 0, 1, 'hello') + frame(0, 1, 1, ''),
  frame(1, 0, 3, request.slice(0, 2)) + frame(9, 0, 3, request.slice(2, 4)) + frame(9, 4, 3, request.slice(4)),
  frame(0, 9, 5, `\x03hello\0\0\0`) + frame(1, 0x2d, 7, `\x02\x80\x00\x00\x01\x10${request}\0\0`),
  frame(6, 0, 0, '12345678') + frame(6, 1, 0, '12345678') + frame(7, 0, 0, '\0\0\0\x01\0\0\0\0debug'),
  frame(3, 0, 1, '\0\0\0\x08') + frame(2, 0, 1, '\x00\x00\x00\x03\x10') + frame(8, 0, 1, '\0\0\0\x01') + frame(4, 1, 0, ''),
  frame(0x21, 0xff, 9, 'unknown') + frame(5, 4, 1, `\0\0\0\x02${request}`),
]

const dictionary = [
  ...[
    '\x00\x00\x00',
    '\x00\x00\x01',
    '\x00\x00\x05',
    '\x00\x40\x00',
    '\x00\x40\x01',
    '\xff\xff\xff',
    '\x00\x00\x00\x00',
    '\x80\x00\x00\x01',
    '\x7f\xff\xff\xff',
  ],
  ...['\x00', '\x01', '\x02', '\x03', '\x04', '\x05', '\x06', '\x07', '\x08', '\x09', '\x0d', '\x2d', '\xff', '12345678'],
  ...seeds.slice(0, 3),
  frame(0, 0, 0, 'x'),
  frame(9, 4, 1, ''),
  frame(4, 0, 0, '12345'),
]
