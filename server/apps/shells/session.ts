/**
 * One shell: a client's WebSocket on one side, a terminal on the other. What waits in memory is bounded both ways: the program
 * waits while the client does not take its output, and a client that types more than the program takes is cut off. However the
 * client ends, the terminal is closed, and with it everything that runs in it.
 */

import { type ShellNotice, ShellRequest, shellCloseCodes } from '../../../shared/shell.ts'
import type { End } from '../../engines/port/end.ts'
import type { OpenTerminal } from '../../engines/port/port.ts'
import { createChecker } from '../../http/input/validate.ts'
import type { ClientSocket, SocketEvents } from '../../http/sockets/sockets.ts'
import { createInputFlow, type InputFlow } from './input-flow.ts'
import { createOutputFlow, type OutputFlow } from './output-flow.ts'

/** A client that has answered no ping for this long is gone: its network was cut, or it sleeps. */
const SILENCE_MS = 15_000

export type ShellEnd = End | { reason: string }

export interface ShellOptions {
  /** The most output that may be under way without the client having told that it took it; undefined: what the connection holds. */
  outputWindow: number | undefined
  open(onOutput: (bytes: Uint8Array) => void): Promise<OpenTerminal>
  endReason(): string | undefined
  mustEnd: Promise<string>
  explain(error: unknown): string
  onEnd(end: ShellEnd): void
}

interface Line {
  socket: ClientSocket
  terminal: Promise<OpenTerminal>
  input: InputFlow
  output: OutputFlow
  gone: Promise<string>
}

const requests = createChecker(ShellRequest)

export function serveShell(options: ShellOptions): SocketEvents {
  const gone = Promise.withResolvers<string>()
  let line: Line | undefined
  return {
    silenceMs: SILENCE_MS,
    endReason: options.endReason,
    opened(socket) {
      line = connect(options, socket, gone.promise)
      void conduct(options, line)
      void options.mustEnd.then((reason) => socket.close(shellCloseCodes.refused, reason))
    },
    message(data) {
      if (line !== undefined) receive(line, data)
    },
    drained: () => line?.output.drained(),
    closed: (reason) => gone.resolve(reason ?? 'The client went away'),
  }
}

function connect(options: ShellOptions, socket: ClientSocket, gone: Promise<string>): Line {
  const output = createOutputFlow(socket, options.outputWindow)
  const terminal = options.open(output.send)
  terminal.then(output.attach, () => {})
  const input = createInputFlow({
    write: async (bytes) => await (await terminal).write(bytes),
    onTaken: (bytes) => tell(socket, { type: 'taken', bytes }),
  })
  return { socket, terminal, input, output, gone }
}

async function conduct(options: ShellOptions, line: Line): Promise<void> {
  try {
    const terminal = await line.terminal
    const end = await Promise.race([terminal.ended, line.gone.then((reason) => ({ reason }))])
    if (!('reason' in end)) await sayEnd(line, end)
    await terminal.close()
    options.onEnd(end)
  } catch (error) {
    const reason = options.explain(error)
    line.socket.close(shellCloseCodes.failed, reason)
    options.onEnd({ reason })
  }
}

async function sayEnd({ socket, output, gone }: Line, { exitCode, signal }: End): Promise<void> {
  await Promise.race([output.whenSent(), gone])
  tell(socket, { type: 'exit', exitCode, signal })
  socket.close(shellCloseCodes.ended, 'The command ended')
}

function receive(line: Line, data: string | Uint8Array): void {
  if (typeof data !== 'string') {
    // The bytes are the socket's own, and stay so only until this returns.
    if (!line.input.take(Uint8Array.from(data)))
      line.socket.close(shellCloseCodes.refused, 'More was typed than the program takes. Wait for `taken` before sending more.')
    return
  }
  const request = requestOf(data)
  if (request === undefined) line.socket.close(shellCloseCodes.refused, 'This is no message that a shell knows')
  else if (request.type === 'taken') line.output.taken(request.bytes)
  else line.terminal.then((terminal) => terminal.resize(request.columns, request.rows)).catch(() => {})
}

function requestOf(text: string): ShellRequest | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return requests.accepts(value) ? (value as ShellRequest) : undefined
  } catch {
    return undefined
  }
}

const tell = (socket: ClientSocket, notice: ShellNotice): void => void socket.send(JSON.stringify(notice))
