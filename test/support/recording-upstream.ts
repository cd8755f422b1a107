import { readRequests } from './strict-http.ts'

/** An instance that takes down the very bytes that reach it. */
export interface RecordingUpstream {
  port: number
  /** What has come on each connection since the last time, as latin1. */
  taken(): string[]
  stop(): void
}

interface Recorded {
  text: string
  answered: number
}

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'

/**
 * Answers the first request of a connection when it is whole, and what it cannot read strictly at once; either way it closes then, so
 * that each request comes on a connection of its own, unless what was passed on holds more than one.
 */
export function startRecordingUpstream(): RecordingUpstream {
  let records: Recorded[] = []
  const listener = Bun.listen<Recorded>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { text: '', answered: 0 }
        records.push(socket.data)
      },
      data(socket, bytes) {
        socket.data.text += bytes.toString('latin1')
        if (socket.data.answered > 0 || !isReadable(socket.data.text)) return
        socket.data.answered++
        socket.end(ANSWER)
      },
    },
  })
  return {
    port: listener.port,
    taken() {
      const texts = records.map(({ text }) => text).filter((text) => text !== '')
      records = []
      return texts
    },
    stop: () => listener.stop(true),
  }
}

/** Whether a request is whole, or never will be. */
function isReadable(text: string): boolean {
  try {
    return readRequests(text).requests.length > 0
  } catch {
    return true
  }
}
