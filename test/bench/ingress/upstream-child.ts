/**
 * Started by the benchmark as a process of its own, and as cheap as can be: `/` is 1 KB, `/large` 1 MiB, a POST is answered once its body
 * is there, an upgrade becomes a WebSocket that sends back every message of the size the load sends. Prints its port.
 */
import { createHash } from 'node:crypto'
import { echoFrame, MESSAGE_FRAME_BYTES } from './websocket-frame.ts'
import { LARGE_BYTES, SMALL_BYTES } from './world.ts'

const WEBSOCKET_KEY = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const answerOf = (bytes: number) =>
  Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`)

interface Peer {
  /** The rest of an answer that the kernel did not take at once. */
  rest: Buffer | undefined
  awaitedBytes: number
  echo: Buffer | undefined
}

if (import.meta.main) {
  const small = answerOf(SMALL_BYTES)
  const large = answerOf(LARGE_BYTES)
  const taken = answerOf(0)
  const send = (socket: Bun.Socket<Peer>, bytes: Buffer) => {
    const written = socket.write(bytes)
    if (written < bytes.length) socket.data.rest = bytes.subarray(Math.max(0, written))
  }
  const begin = (socket: Bun.Socket<Peer>, bytes: Buffer) => {
    const text = bytes.toString('latin1')
    const key = /sec-websocket-key: (.*)\r\n/i.exec(text)?.[1]
    if (key !== undefined) {
      const accept = createHash('sha1').update(`${key}${WEBSOCKET_KEY}`).digest('base64')
      socket.data.echo = Buffer.alloc(0)
      send(
        socket,
        Buffer.from(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
        ),
      )
    } else if (text.startsWith('POST')) {
      const bodyFrom = text.indexOf('\r\n\r\n') + 4
      socket.data.awaitedBytes = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0) - (bytes.length - bodyFrom)
      if (socket.data.awaitedBytes === 0) send(socket, taken)
    } else {
      for (let at = text.indexOf('\r\n\r\n'); at >= 0; at = text.indexOf('\r\n\r\n', at + 1))
        send(socket, text.startsWith('GET /large') ? large : small)
    }
  }
  const listener = Bun.listen<Peer>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { rest: undefined, awaitedBytes: 0, echo: undefined }
      },
      data(socket, bytes) {
        const { data } = socket
        if (data.echo !== undefined) {
          data.echo = Buffer.concat([data.echo, bytes])
          for (; data.echo.length >= MESSAGE_FRAME_BYTES; data.echo = data.echo.subarray(MESSAGE_FRAME_BYTES)) socket.write(echoFrame)
        } else if (data.awaitedBytes > 0) {
          data.awaitedBytes -= bytes.length
          if (data.awaitedBytes === 0) send(socket, taken)
        } else {
          begin(socket, bytes)
        }
      },
      drain(socket) {
        const { rest } = socket.data
        socket.data.rest = undefined
        if (rest !== undefined) send(socket, rest)
      },
    },
  })
  console.log(listener.port)
}
