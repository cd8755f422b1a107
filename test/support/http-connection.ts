import type { Socket } from 'bun'

export interface Answer {
  status: number
  body: string
}

/** One keep-alive connection that says what becomes of every request: an answer, or the reason why there is none. Nothing is sent twice. */
export interface HttpConnection {
  readonly isOpen: boolean
  /** @throws Error with the reason when no whole answer comes. One request at a time. */
  get(host: string, path: string, timeoutMs: number): Promise<Answer>
  close(): void
}

interface Waiting {
  resolve(answer: Answer): void
  reject(error: Error): void
}

export async function connectHttp(port: number): Promise<HttpConnection> {
  let received = ''
  let waiting: Waiting | undefined
  let isOpen = true
  const settle = (act: (one: Waiting) => void) => {
    const one = waiting
    waiting = undefined
    if (one !== undefined) act(one)
  }
  const lost = (why: string) => {
    isOpen = false
    settle(({ reject }) => reject(new Error(`${why} after ${received.length} bytes of the answer`)))
  }
  const socket: Socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, bytes) {
        received += bytes.toString('latin1')
        const answer = parseAnswer(received)
        if (answer === undefined) return
        received = ''
        if (answer.isLast) isOpen = false
        settle(({ resolve }) => resolve(answer))
        // Last, as it may tell of the close at once.
        if (answer.isLast) socket.end()
      },
      close: () => lost('closed'),
      error: (_, error) => lost(error.message),
    },
  })
  return {
    get isOpen() {
      return isOpen
    },
    async get(host, path, timeoutMs) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      waiting = { resolve, reject }
      const timer = setTimeout(() => {
        lost(`no answer in ${timeoutMs} ms`)
        socket.terminate()
      }, timeoutMs)
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      return await promise.finally(() => clearTimeout(timer))
    },
    close() {
      isOpen = false
      socket.end()
    },
  }
}

/** The answer once it is whole. */
export function parseAnswer(text: string): (Answer & { isLast: boolean }) | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = text.slice(0, headEnd)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  const isLast = /^connection: *close/im.test(head)
  const rest = text.slice(headEnd + 4)
  const body = /^transfer-encoding: *chunked/im.test(head)
    ? joinChunks(rest)
    : sized(rest, Number(/^content-length: *(\d+)/im.exec(head)?.[1]))
  return body === undefined ? undefined : { status, body, isLast }
}

const sized = (rest: string, length: number): string | undefined => (rest.length >= length ? rest.slice(0, length) : undefined)

function joinChunks(text: string): string | undefined {
  let body = ''
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (text.length < end + 2) return undefined
    if (size === 0) return body
    body += text.slice(lineEnd + 2, end)
    at = end + 2
  }
}
