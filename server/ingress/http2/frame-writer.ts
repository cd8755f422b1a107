import { DEFAULT_MAX_FRAME_BYTES, Flag, FRAME_HEADER_BYTES, FrameType } from './frame.ts'
import type { HpackEncoder } from './hpack-encoder.ts'
import type { Outbox } from './outbox.ts'

export type Setting = readonly [id: number, value: number]

const PING_BYTES = 8
const MAX_DEBUG_BYTES = 200
/** Dynamic table size update to 0 (RFC 7541 section 6.3). */
const EMPTY_TABLE = 0x20

export class FrameWriter {
  readonly #outbox: Outbox
  #mustEmptyTable = false

  constructor(outbox: Outbox) {
    this.#outbox = outbox
  }

  /** The peer remembers less than it did: it wants to hear that the table, which nothing is put into, is small enough (RFC 9113 section 4.3.1). */
  emptyTable(): void {
    this.#mustEmptyTable = true
  }

  settings(settings: readonly Setting[]): void {
    const bytes = Buffer.allocUnsafe(settings.length * 6)
    settings.forEach(([id, value], index) => {
      bytes.writeUInt16BE(id, index * 6)
      bytes.writeUInt32BE(value, index * 6 + 2)
    })
    this.#ofConnection(kindOf(FrameType.settings, 0), bytes)
  }

  settingsAck(): void {
    this.#begin(0, kindOf(FrameType.settings, Flag.ack), 0)
  }

  ping(): void {
    this.#ofConnection(kindOf(FrameType.ping, 0), Buffer.alloc(PING_BYTES))
  }

  pingAck(bytes: Buffer, from: number): void {
    this.#ofConnection(kindOf(FrameType.ping, Flag.ack), bytes.subarray(from, from + PING_BYTES))
  }

  goaway({ lastStreamId, code, message }: { lastStreamId: number; code: number; message: string }): void {
    const bytes = Buffer.concat([Buffer.alloc(8), Buffer.from(message.slice(0, MAX_DEBUG_BYTES))])
    bytes.writeUInt32BE(lastStreamId, 0)
    bytes.writeUInt32BE(code, 4)
    this.#ofConnection(kindOf(FrameType.goaway, 0), bytes)
  }

  reset(streamId: number, code: number): void {
    this.#withUint32(FrameType.rstStream, streamId, code)
  }

  windowUpdate(streamId: number, increment: number): void {
    this.#withUint32(FrameType.windowUpdate, streamId, increment)
  }

  headers(streamId: number, block: HpackEncoder, isLast: boolean): void {
    const prefixBytes = this.#mustEmptyTable ? 1 : 0
    const firstBytes = Math.min(block.length, DEFAULT_MAX_FRAME_BYTES - prefixBytes)
    const flags = (isLast ? Flag.endStream : 0) | endHeaders(firstBytes === block.length)
    const room = this.#begin(firstBytes + prefixBytes, kindOf(FrameType.headers, flags), streamId)
    if (this.#mustEmptyTable) room[this.#outbox.at] = EMPTY_TABLE
    this.#outbox.put(prefixBytes)
    this.#mustEmptyTable = false
    this.#copy(room, block.bytes, { from: 0, to: firstBytes })
    for (let from = firstBytes; from < block.length; from += DEFAULT_MAX_FRAME_BYTES) {
      const to = Math.min(block.length, from + DEFAULT_MAX_FRAME_BYTES)
      const next = this.#begin(to - from, kindOf(FrameType.continuation, endHeaders(to === block.length)), streamId)
      this.#copy(next, block.bytes, { from, to })
    }
  }

  data(streamId: number, count: number, isLast: boolean): { room: Buffer; at: number } {
    const room = this.#begin(count, kindOf(FrameType.data, isLast ? Flag.endStream : 0), streamId)
    const { at } = this.#outbox
    this.#outbox.put(count)
    return { room, at }
  }

  #withUint32(type: number, streamId: number, value: number): void {
    const room = this.#begin(4, kindOf(type, 0), streamId)
    putUint32(room, this.#outbox.at, value)
    this.#outbox.put(4)
  }

  #ofConnection(kind: number, payload: Buffer): void {
    this.#copy(this.#begin(payload.length, kind, 0), payload, { from: 0, to: payload.length })
  }

  #copy(room: Buffer, bytes: Buffer, { from, to }: { from: number; to: number }): void {
    bytes.copy(room, this.#outbox.at, from, to)
    this.#outbox.put(to - from)
  }

  #begin(count: number, kind: number, streamId: number): Buffer {
    const room = this.#outbox.take(FRAME_HEADER_BYTES + count)
    const { at } = this.#outbox
    room[at] = count >>> 16
    room[at + 1] = count >>> 8
    room[at + 2] = count
    room[at + 3] = kind >>> 8
    room[at + 4] = kind
    putUint32(room, at + 5, streamId)
    this.#outbox.put(FRAME_HEADER_BYTES)
    return room
  }
}

function kindOf(type: number, flags: number): number {
  return (type << 8) | flags
}

function endHeaders(isEnd: boolean): number {
  return isEnd ? Flag.endHeaders : 0
}

function putUint32(room: Buffer, at: number, value: number): void {
  room[at] = value >>> 24
  room[at + 1] = value >>> 16
  room[at + 2] = value >>> 8
  room[at + 3] = value
}
