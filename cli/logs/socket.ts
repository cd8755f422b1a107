import type { Log } from '../../shared/log.ts'
import type { Target } from '../api/client.ts'

/** A connection on which nothing at all has come for this long, in milliseconds, is taken for dead. */
export const SILENCE_MS = 45_000
const PING_MS = 15_000

export interface SocketEnd {
  wasOpen: boolean
  /** Status with which the server refused the WebSocket, where it did. */
  refusedStatus: number | undefined
}

interface SocketOptions {
  onOpen: () => void
  onLog: (log: Log) => void
  signal: AbortSignal
}

/** Reads log lines from a WebSocket until it ends, for whatever reason; resolves then, and at once when `signal` aborts. */
export function readLogSocket(target: Target, path: string, { onOpen, onLog, signal }: SocketOptions): Promise<SocketEnd> {
  const { promise, resolve } = Promise.withResolvers<SocketEnd>()
  const socket = new WebSocket(target.url.replace(/^http/, 'ws') + path, { headers: { ...target.headers } })
  const end: SocketEnd = { wasOpen: false, refusedStatus: undefined }
  let heardAt = performance.now()
  const heard = () => {
    heardAt = performance.now()
  }
  const finish = () => {
    clearInterval(pulse)
    signal.removeEventListener('abort', finish)
    socket.terminate()
    resolve(end)
  }
  const pulse = setInterval(() => {
    if (performance.now() - heardAt > SILENCE_MS) finish()
    else if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, PING_MS)
  socket.addEventListener('open', () => {
    end.wasOpen = true
    onOpen()
  })
  socket.addEventListener('message', ({ data }) => {
    heard()
    const log = logOf(data)
    if (log !== undefined && !signal.aborted) onLog(log)
  })
  for (const sign of ['ping', 'pong']) socket.addEventListener(sign, heard)
  socket.addEventListener('error', (event) => {
    const status = /status code:? (\d{3})/.exec('message' in event ? String(event.message) : '')?.[1]
    if (status !== undefined) end.refusedStatus = Number(status)
  })
  socket.addEventListener('close', finish)
  signal.addEventListener('abort', finish)
  if (signal.aborted) finish()
  return promise
}

function logOf(data: unknown): Log | undefined {
  try {
    return typeof data === 'string' ? (JSON.parse(data) as Log) : undefined
  } catch {
    return undefined
  }
}
