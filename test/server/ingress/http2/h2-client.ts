import { FrameReader } from '../../../../server/ingress/http2/frame-reader.ts'
import { HpackDecoder } from '../../../../server/ingress/http2/hpack-decoder.ts'
import { HpackEncoder } from '../../../../server/ingress/http2/hpack-encoder.ts'

export const Type = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export interface SeenFrame {
  type: number
  flags: number
  streamId: number
  payload: Buffer
  fields: Record<string, string>
}

export type Fields = readonly (readonly [name: string, value: string])[]

/** A connection that sends whatever frames it is told to. */
export interface H2Client {
  frames: SeenFrame[]
  send(...frames: Buffer[]): void
  /** A request's head. */
  request(streamId: number, fields?: Fields, options?: { isLast?: boolean }): void
  data(streamId: number, bytes: Buffer | string, isLast?: boolean): void
  /** Resolves with what the function finds in the frames received; rejects when the connection ends before. */
  until<T>(find: (frames: SeenFrame[]) => T | undefined | false): Promise<T>
  /** The head of a stream's answer. */
  head(streamId: number): Promise<Record<string, string>>
  /** All the data of a stream, once it has ended; rejects when it is reset. */
  body(streamId: number): Promise<Buffer>
  /** The code a stream was reset with. */
  resetCode(streamId: number): Promise<number>
  goaway(): Promise<{ code: number; lastStreamId: number }>
  pause(): void
  resume(): void
  end(): void
  kill(): void
  closed: Promise<void>
}

export const get: Fields = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a.test'],
  [':path', '/'],
]
export const post: Fields = [[':method', 'POST'], ...get.slice(1)]

export function frame(type: number, flags: number, streamId: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(9)
  header.writeUIntBE(payload.length, 0, 3)
  header.writeUInt8(type, 3)
  header.writeUInt8(flags, 4)
  header.writeUInt32BE(streamId, 5)
  return Buffer.concat([header, payload])
}

export function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, index) => void bytes.writeUInt32BE(value, 4 * index))
  return bytes
}

export function settings(...pairs: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(6 * pairs.length)
  pairs.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, 6 * index)
    payload.writeUInt32BE(value, 6 * index + 2)
  })
  return frame(Type.settings, 0, 0, payload)
}

export function block(fields: Fields): Buffer {
  const encoder = new HpackEncoder()
  encoder.begin()
  for (const [name, value] of fields) encoder.field(name, value)
  return Buffer.from(encoder.bytes.subarray(0, encoder.length))
}

export async function connectHttp2(
  port: number,
  first: readonly (readonly [number, number])[] = [],
  opensWindows = true,
): Promise<H2Client> {
  const frames: SeenFrame[] = []
  const reader = new FrameReader(1 << 20)
  const decoder = new HpackDecoder({ maxTableBytes: 4096, maxListBytes: 1 << 20 })
  const unsent: Buffer[] = []
  const waiting: (() => void)[] = []
  let isClosed = false
  const closed = Promise.withResolvers<void>()
  const wake = () => {
    for (const resume of waiting.splice(0)) resume()
  }
  const take = (bytes: Buffer) => {
    reader.push(bytes)
    for (let next = reader.next(); next !== undefined; next = reader.next()) {
      const payload = Buffer.from(next.bytes.subarray(next.from, next.to))
      const fields =
        next.type === Type.headers && (next.flags & 4) !== 0
          ? decoder.decode(payload, 0, payload.length).fields.map((f) => [f.name, f.value])
          : []
      frames.push({ type: next.type, flags: next.flags, streamId: next.streamId, payload, fields: Object.fromEntries(fields) })
      const isData = next.type === Type.data && payload.length > 0
      if (isData && opensWindows) send(frame(8, 0, 0, uint32(payload.length)), frame(8, 0, next.streamId, uint32(payload.length)))
    }
    wake()
  }
  const flush = () => {
    for (let bytes = unsent[0]; bytes !== undefined; bytes = unsent[0]) {
      const written = Math.max(0, socket.write(bytes))
      if (written < bytes.length) {
        unsent[0] = bytes.subarray(written)
        return
      }
      unsent.shift()
    }
  }
  const send = (...more: Buffer[]) => {
    unsent.push(Buffer.concat(more))
    if (unsent.length === 1) flush()
  }
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    allowHalfOpen: true,
    socket: {
      data: (_socket, bytes) => take(bytes),
      drain: flush,
      end: (ended) => void ended.end(),
      close() {
        isClosed = true
        closed.resolve()
        wake()
      },
    },
  })
  send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings(...first))
  const until = async <T>(find: (frames: SeenFrame[]) => T | undefined | false): Promise<T> => {
    for (;;) {
      const found = find(frames)
      if (found !== undefined && found !== false) return found
      if (isClosed) throw new Error(`The connection ended after ${frames.map(({ type, streamId }) => `${type}/${streamId}`).join(' ')}`)
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  return {
    frames,
    send,
    request: (streamId, fields = get, { isLast = true } = {}) => send(frame(1, isLast ? 5 : 4, streamId, block(fields))),
    data(streamId, bytes, isLast = false) {
      const all = Buffer.from(bytes)
      for (let at = 0; at < all.length || at === 0; at += 16_384) {
        const isEnd = at + 16_384 >= all.length
        send(frame(0, isEnd && isLast ? 1 : 0, streamId, all.subarray(at, at + 16_384)))
      }
    },
    until,
    head: (streamId) =>
      until((all) => all.find((f) => f.type === 1 && f.streamId === streamId && Number(f.fields[':status']) >= 200)?.fields),
    body: (streamId) =>
      until((all) => {
        const own = all.filter((f) => f.streamId === streamId)
        const reset = own.find((f) => f.type === Type.reset)
        const isEnded = own.some((f) => f.type <= 1 && (f.flags & 1) !== 0)
        if (!isEnded && reset !== undefined) throw new Error(`stream ${streamId} was reset: ${reset.payload.readUInt32BE()}`)
        return isEnded && Buffer.concat(own.filter((f) => f.type === Type.data).map(({ payload }) => payload))
      }),
    resetCode: (streamId) => until((all) => all.find((f) => f.type === Type.reset && f.streamId === streamId)?.payload.readUInt32BE()),
    goaway: () =>
      until((all) => {
        const last = all.findLast((f) => f.type === Type.goaway)
        return last && { lastStreamId: last.payload.readUInt32BE(0), code: last.payload.readUInt32BE(4) }
      }),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.shutdown(),
    kill: () => void socket.terminate(),
    closed: closed.promise,
  }
}
