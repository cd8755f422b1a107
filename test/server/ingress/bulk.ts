import { expect } from 'vitest'
import { eventually } from './world.ts'

/** Large bodies, and peers that send or take without end: what transfers are tested with, whatever they travel in. */

export const MIB = 1024 * 1024
const FLOOD_BYTES = 300 * MIB

/** Hashes what it is sent, echoes WebSockets, and sends as much as `bytes` in the query asks for. */
export function startBulkApp(maxBytes: number, special: (path: string) => Response | undefined = () => undefined) {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 2 * maxBytes,
    idleTimeout: 0,
    async fetch(request, server) {
      if (server.upgrade(request)) return undefined
      const { pathname, searchParams } = new URL(request.url)
      if (request.method === 'POST') return Response.json(await digest(request.body))
      return special(pathname) ?? new Response(pattern(Number(searchParams.get('bytes'))))
    },
    websocket: { message: (socket, message) => void socket.send(message) },
  })
}

export async function digest(body: ReadableStream<Uint8Array> | null): Promise<{ bytes: number; hash: string }> {
  const hasher = new Bun.CryptoHasher('sha1')
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    hasher.update(part)
  }
  return { bytes, hash: hasher.digest('hex') }
}

/** A stream that differs from place to place, so that nothing can be lost, doubled or swapped unseen. */
export function pattern(totalBytes: number): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      if (sent >= totalBytes) return controller.close()
      const part = new Uint32Array(MIB / 4).map((_, index) => sent + index * 4)
      controller.enqueue(new Uint8Array(part.buffer).subarray(0, totalBytes - sent))
      sent += MIB
    },
  })
}

interface Flood {
  pump(socket: Bun.Socket): void
  sentBytes(): number
}

/** Writes whatever a socket takes, to its end at 300 MiB; `pump` is also what to do when it takes more again. */
export function createFlood(): Flood {
  let sentBytes = 0
  const part = Buffer.alloc(MIB)
  return {
    pump(socket) {
      for (let written = part.length; written === part.length && sentBytes < FLOOD_BYTES; ) {
        written = Math.max(0, socket.write(part))
        sentBytes += written
      }
    },
    sentBytes: () => sentBytes,
  }
}

/** The head of a request whose body a flood is. */
export const floodHead = (host: string): string => `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${FLOOD_BYTES}\r\n\r\n`

/** An instance that answers every request with a flood. */
export function startFloodingInstance() {
  const { pump, sentBytes } = createFlood()
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        pump(socket)
      },
      drain: pump,
    },
  })
  return { port: listener.port, sentBytes, stop: () => listener.stop(true) }
}

/** An instance that takes connections and reads nothing of them. */
export const startDeafInstance = () =>
  Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open: (socket) => void socket.pause(), data() {} } })

/** Returns when something has begun to be sent and no more is; it must then have stayed well below all of it. */
export async function expectHeldBack(sentBytes: () => number): Promise<void> {
  let before = -1
  await eventually(async () => {
    const isStill = sentBytes() > 0 && sentBytes() === before
    before = sentBytes()
    await Bun.sleep(100)
    return isStill
  })
  expect(sentBytes()).toBeLessThan(64 * MIB)
}

/** Sends messages of all kinds of sizes and expects each back. The socket is left open. */
export async function expectEchoes(socket: WebSocket): Promise<void> {
  socket.binaryType = 'arraybuffer'
  await new Promise((resolve) => {
    socket.onopen = resolve
  })
  for (const size of [0, 1, 125, 126, 70_000, 3 * MIB]) {
    const message = new Uint8Array(size).map((_, index) => index % 251)
    const echoed = new Promise<ArrayBuffer>((resolve) => {
      socket.onmessage = ({ data }) => resolve(data)
    })
    socket.send(message)
    expect(Buffer.from(await echoed).equals(message)).toBe(true)
  }
}

/** An instance whose tunnel says `first `, and more once the client has closed its side. */
export const startHalfClosingInstance = () =>
  Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    allowHalfOpen: true,
    socket: {
      data(socket, bytes) {
        if (bytes.toString().startsWith('GET'))
          socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\nfirst ')
      },
      end(socket) {
        socket.write('after your end')
        socket.end()
      },
    },
  })

/** Asks for such a tunnel. */
export const tunnelHead = (host: string): string => `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n`
