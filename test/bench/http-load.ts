import type { Socket } from 'bun'

export interface Load {
  host: string
  port: number
  /** The whole request head, sent again and again. */
  request: string
  connections: number
  durationMs: number
}

export interface LoadResult {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** Answers of another status than 200. */
  failures: number
}

interface Connection {
  pending: Buffer
  sentAt: number
}

const HEAD_END = Buffer.from('\r\n\r\n')

/** Keeps each connection busy with one request after the other, over plain sockets so that the loader costs less than the loaded. */
export async function generateLoad({ host, port, request, connections, durationMs }: Load): Promise<LoadResult> {
  const latencies: number[] = []
  let failures = 0
  let isOver = false
  const send = (socket: Socket<Connection>) => {
    if (isOver) return
    socket.data.sentAt = performance.now()
    socket.write(request)
  }
  const take = (socket: Socket<Connection>, chunk: Buffer) => {
    const { data } = socket
    data.pending = data.pending.length === 0 ? chunk : Buffer.concat([data.pending, chunk])
    const end = endOfResponse(data.pending)
    if (end === undefined || data.pending.length < end) return
    latencies.push(performance.now() - data.sentAt)
    if (data.pending.toString('latin1', 9, 12) !== '200') failures++
    data.pending = data.pending.subarray(end)
    send(socket)
  }
  const sockets = await Promise.all(
    Array.from({ length: connections }, () =>
      Bun.connect<Connection>({
        hostname: host,
        port,
        data: { pending: Buffer.alloc(0), sentAt: 0 },
        socket: { open: send, data: (socket, chunk) => take(socket, Buffer.from(chunk)) },
      }),
    ),
  )
  await Bun.sleep(durationMs)
  isOver = true
  for (const socket of sockets) socket.end()
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { requestsPerSecond: latencies.length / (durationMs / 1000), p50Ms: at(0.5), p99Ms: at(0.99), failures }
}

/** Index behind the response in the buffer, once its head is complete. */
function endOfResponse(buffer: Buffer): number | undefined {
  const headEnd = buffer.indexOf(HEAD_END)
  if (headEnd === -1) return undefined
  const length = /content-length: (\d+)/i.exec(buffer.toString('latin1', 0, headEnd))?.[1]
  return headEnd + HEAD_END.length + Number(length ?? 0)
}
