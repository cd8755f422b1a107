import { operationOf } from '../../shared/operations/all.ts'
import type { TunnelNotice } from '../../shared/postgres-tunnel.ts'
import { tunnelWindowBytes } from '../../shared/postgres-tunnel.ts'
import type { Target } from '../api/client.ts'
import { pathOf } from '../api/request.ts'
import type { Context } from '../session/context.ts'
import { createOutgoingInput, type OutgoingInput } from '../shell/input.ts'

export interface Tunnel {
  port: number
  close(): void
}

interface TunnelOptions {
  postgresId: string
  /** On 127.0.0.1; 0 for any that is free. */
  port: number
  onProblem(reason: string): void
}

type LocalSocket = Bun.Socket<Way>

interface Way {
  remote: WebSocket
  input: OutgoingInput
  waiting: Uint8Array[]
  untoldBytes: number
  isOver: boolean
}

const TAKEN_STEP_BYTES = tunnelWindowBytes / 8
const NORMAL = 1000

/** Has programs of this machine connect to a database at a port of 127.0.0.1, through the API. @throws Error for a port that is taken. */
export async function openTunnel({ client }: Pick<Context, 'client'>, options: TunnelOptions): Promise<Tunnel> {
  const target = await client.target()
  const ways = new Set<LocalSocket>()
  const server = Bun.listen<Way>({
    hostname: '127.0.0.1',
    port: options.port,
    socket: {
      open(socket) {
        ways.add(socket)
        socket.data = wayOf(socket, target, options)
      },
      data: (socket, bytes) => socket.data.input.send(Uint8Array.from(bytes)),
      drain: show,
      close(socket) {
        ways.delete(socket)
        socket.data?.remote.close(NORMAL)
      },
      error: (socket) => socket.terminate(),
    },
  })
  return {
    port: server.port,
    close() {
      server.stop(true)
      for (const socket of ways) socket.terminate()
    },
  }
}

function wayOf(socket: LocalSocket, target: Target, { postgresId, onProblem }: TunnelOptions): Way {
  const path = pathOf(operationOf('openPostgresTunnel'), { params: { postgresId } })
  const remote = new WebSocket(target.url.replace(/^http/, 'ws') + path, { headers: { ...target.headers } })
  remote.binaryType = 'arraybuffer'
  const early: Uint8Array[] = []
  const input = createOutgoingInput({
    send: (frame) => void (remote.readyState === WebSocket.CONNECTING ? early.push(frame) : remote.send(frame)),
    setWaiting: (isWaiting) => (isWaiting ? socket.pause() : socket.resume()),
  })
  const way: Way = { remote, input, waiting: [], untoldBytes: 0, isOver: false }
  remote.addEventListener('open', () => {
    for (const frame of early) remote.send(frame)
  })
  remote.addEventListener('message', ({ data }) => {
    if (data instanceof ArrayBuffer) {
      way.waiting.push(new Uint8Array(data))
      show(socket)
    } else input.taken((JSON.parse(String(data)) as TunnelNotice).bytes)
  })
  remote.addEventListener('close', ({ code, reason }) => {
    if (code !== NORMAL) onProblem(reason || 'The server refused the connection, or was lost.')
    way.isOver = true
    show(socket)
  })
  return way
}

/** Gives the program what it takes, and tells the server from time to time how much that was. */
function show(socket: LocalSocket): void {
  const { data: way } = socket
  if (way === undefined) return
  for (let bytes = way.waiting[0]; bytes !== undefined; bytes = way.waiting[0]) {
    const taken = Math.max(0, socket.write(bytes))
    way.untoldBytes += taken
    if (taken < bytes.length) {
      way.waiting[0] = bytes.subarray(taken)
      break
    }
    way.waiting.shift()
  }
  if (way.untoldBytes >= TAKEN_STEP_BYTES && way.remote.readyState === WebSocket.OPEN) {
    way.remote.send(JSON.stringify({ type: 'taken', bytes: way.untoldBytes } satisfies TunnelNotice))
    way.untoldBytes = 0
  }
  if (way.isOver && way.waiting.length === 0) socket.end()
}
