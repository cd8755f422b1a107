/** Started by the benchmark: keeps WebSocket connections busy with one message after the other, and prints what it measured as JSON. */
import { ECHO_FRAME_BYTES, messageFrame } from './websocket-frame.ts'
import { HOST } from './world.ts'

const [port, connections, seconds] = process.argv.slice(2).map(Number)

interface Client {
  isOpen: boolean
  awaitedBytes: number
  sentAt: number
}

const latencies: number[] = []
let isOver = false
const send = (socket: Bun.Socket<Client>) => {
  socket.data.awaitedBytes = ECHO_FRAME_BYTES
  socket.data.sentAt = performance.now()
  socket.write(messageFrame)
}
const upgrade = `GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
await Promise.all(
  Array.from({ length: connections ?? 0 }, () =>
    Bun.connect<Client>({
      hostname: '127.0.0.1',
      port: port ?? 0,
      data: { isOpen: false, awaitedBytes: 0, sentAt: 0 },
      socket: {
        open: (socket) => void socket.write(upgrade),
        data(socket, bytes) {
          const { data } = socket
          if (data.isOpen) {
            data.awaitedBytes -= bytes.length
            if (data.awaitedBytes > 0 || isOver) return
            latencies.push(performance.now() - data.sentAt)
            send(socket)
          } else if (bytes.includes(' 101 ')) {
            data.isOpen = true
            send(socket)
          }
        },
      },
    }),
  ),
)
await Bun.sleep((seconds ?? 0) * 1000)
isOver = true
const sorted = latencies.toSorted((a, b) => a - b)
const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
console.log(JSON.stringify({ count: latencies.length, p50Ms: at(0.5), p99Ms: at(0.99) }))
process.exit(0)
