/**
 * One connection to a database: a client's WebSocket on one side, TCP on the other. What waits in memory is bounded both ways, and whichever
 * side ends takes the other along.
 */
import { TunnelNotice, tunnelWindowBytes } from '../../../../shared/postgres-tunnel.ts'
import { shellCloseCodes } from '../../../../shared/shell.ts'
import { createChecker } from '../../../http/input/validate.ts'
import type { ClientSocket, SocketEvents } from '../../../http/sockets/sockets.ts'
import type { ByteStream, ByteStreamEvents } from '../../../platform/network/byte-stream.ts'
import { createInputFlow, type InputFlow } from '../../shells/input-flow.ts'
import { createOutputFlow, type OutputFlow } from '../../shells/output-flow.ts'
import { createGate } from './gate.ts'

/** A client that has answered no ping for this long is gone. */
const SILENCE_MS = 15_000

export interface TunnelOptions {
  open(on: ByteStreamEvents): Promise<ByteStream>
  endReason(): string | undefined
  onEnd(): void
}

interface Line {
  socket: ClientSocket
  stream: Promise<ByteStream>
  input: InputFlow
  output: OutputFlow
}

const notices = createChecker(TunnelNotice)

export function serveTunnel(options: TunnelOptions): SocketEvents {
  let line: Line | undefined
  return {
    silenceMs: SILENCE_MS,
    endReason: options.endReason,
    opened(socket) {
      line = connect(options, socket)
    },
    message(data) {
      if (line !== undefined) receive(line, data)
    },
    drained: () => line?.output.drained(),
    closed() {
      options.onEnd()
      line?.stream.then((stream) => stream.cut()).catch(() => {})
    },
  }
}

function connect(options: TunnelOptions, socket: ClientSocket): Line {
  const output = createOutputFlow(socket, tunnelWindowBytes)
  const gate = createGate()
  const stream = options.open({
    data: output.send,
    closed: () => void output.whenSent().then(() => socket.close(shellCloseCodes.ended, 'The database has ended the connection')),
  })
  stream.then(output.attach, () => socket.close(shellCloseCodes.failed, 'The database cannot be reached now. Try again in a moment.'))
  const input = createInputFlow({
    async write(bytes) {
      const { forward, answer, refusal } = gate.take(bytes)
      if (answer !== undefined) output.send(answer)
      if (refusal !== undefined) socket.close(shellCloseCodes.refused, refusal)
      if (forward !== undefined) await (await stream).write(forward)
    },
    onTaken: (bytes) => void socket.send(JSON.stringify({ type: 'taken', bytes } satisfies TunnelNotice)),
  })
  return { socket, stream, input, output }
}

function receive({ socket, input, output }: Line, data: string | Uint8Array): void {
  if (typeof data !== 'string') {
    // The bytes are the socket's own, and stay so only until this returns.
    if (!input.take(Uint8Array.from(data)))
      socket.close(shellCloseCodes.refused, 'More was sent than the database takes. Wait for `taken`.')
    return
  }
  const notice = noticeOf(data)
  if (notice === undefined) socket.close(shellCloseCodes.refused, 'This is no message that a tunnel knows')
  else output.taken(notice.bytes)
}

function noticeOf(text: string): TunnelNotice | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return notices.accepts(value) ? (value as TunnelNotice) : undefined
  } catch {
    return undefined
  }
}
