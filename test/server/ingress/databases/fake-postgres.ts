import { message } from './packets.ts'

/** Says what a PostgreSQL would, as far as a way in cares: it greets, answers queries, and remembers what it was asked to cancel. */
export interface FakePostgres {
  port: number
  connectionCount(): number
  /** All that was said, by connection. */
  heard: Buffer[]
  stop(): void
}

export const KEY = Buffer.from([1, 2, 3, 4])
/** The process of the first connection. */
const FIRST_PID = 42

export const READY = message('Z', 'I')
/** What the connection of this index is told when it begins, by a process of its own. */
const greetingOf = (index: number): Buffer =>
  Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('K', Buffer.concat([Buffer.from([0, 0, index >> 8, FIRST_PID + (index & 127)]), KEY])),
    READY,
  ])

export const greeting = greetingOf(0)

/** `answer` gives what is said to a message of the client, whose type it is told. */
export function startFakePostgres(answer: (type: string) => Buffer = () => READY): FakePostgres {
  let count = 0
  const heard: Buffer[] = []
  const listener = Bun.listen<{ index: number; isGreeted: boolean }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { index: count++, isGreeted: false }
      },
      data(socket, bytes) {
        const { index, isGreeted } = socket.data
        heard[index] = Buffer.concat([heard[index] ?? Buffer.alloc(0), bytes])
        socket.data.isGreeted = true
        const isCancel = !isGreeted && bytes.length === 16
        if (isCancel) socket.end()
        else socket.write(isGreeted ? answer(bytes.toString('latin1', 0, 1)) : greetingOf(index))
      },
    },
  })
  return { port: listener.port, connectionCount: () => count, heard, stop: () => listener.stop(true) }
}
