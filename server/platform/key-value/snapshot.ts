import { connect, type Socket } from 'node:net'
import { AppError } from '../../../shared/error.ts'
import type { Login, ServerAddress } from './port.ts'

const SILENCE_MS = 60_000
const MAX_HEAD_BYTES = 4096

/**
 * Asks a server for its content as a replica does, which that writes to the connection from a process of its own. What follows the head
 * `$EOF:<40 letters>` up to the same letters is the snapshot; line ends before it say that the server is still at work.
 */
export async function* readSnapshot(at: ServerAddress, { user, password }: Login, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const socket = connect({ host: at.host, port: at.port, signal })
  socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('The server fell silent.')))
  socket.write(request('AUTH', user, password) + request('REPLCONF', 'capa', 'eof'))
  try {
    yield* contentOf(socket)
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof AppError) throw cause
    throw new AppError('unavailable', 'The key-value store did not give its content. Try again in a moment.', { cause })
  } finally {
    socket.destroy()
  }
}

const request = (...words: string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`

async function* contentOf(socket: Socket): AsyncGenerator<Uint8Array> {
  const pieces = (socket as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  const { mark, rest } = await readUpToContent(socket, pieces)
  for (let held = rest; ; ) {
    const end = held.indexOf(mark)
    if (end >= 0) return yield held.subarray(0, end)
    const given = Math.max(0, held.length - mark.length)
    if (given > 0) yield held.subarray(0, given)
    held = Buffer.concat([held.subarray(given), await nextOf(pieces)])
  }
}

async function readUpToContent(socket: Socket, pieces: AsyncIterator<Buffer>): Promise<{ mark: Buffer; rest: Buffer }> {
  let held: Buffer = Buffer.alloc(0)
  for (let isAsked = false; ; ) {
    held = Buffer.concat([held, await nextOf(pieces)])
    const { isReady, mark, bytes } = readHead(held)
    if (mark !== undefined) return { mark, rest: held.subarray(bytes) }
    // Asked for together with the rest it is refused, as answers are under way.
    if (!isAsked && isReady) socket.write(request('SYNC'))
    isAsked ||= isReady
  }
}

async function nextOf(pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  const { done, value } = await pieces.next()
  if (done === true) throw new Error('The connection ended before the snapshot did.')
  return value
}

interface Head {
  isReady: boolean
  mark?: Buffer
  bytes: number
}

/** The answers to the first two commands are lines as well: `+OK` twice, or an error. */
function readHead(held: Buffer): Head {
  const lines = held.subarray(0, MAX_HEAD_BYTES).toString('latin1').split('\n').slice(0, -1)
  const refusal = lines.find((line) => line.startsWith('-'))
  if (refusal !== undefined) throw new Error(refusal)
  const at = lines.findIndex((line) => line.startsWith('$'))
  const mark = /^\$EOF:(.{40})\r$/.exec(lines[at] ?? '')?.[1]
  if (mark !== undefined) return { isReady: true, mark: Buffer.from(mark, 'latin1'), bytes: lines.slice(0, at + 1).join('\n').length + 1 }
  if (at >= 0 || held.length > MAX_HEAD_BYTES) throw new Error('The server answered with what is no snapshot.')
  return { isReady: lines.filter((line) => line.startsWith('+OK')).length >= 2, bytes: 0 }
}
