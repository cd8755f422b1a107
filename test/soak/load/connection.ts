import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type Answer, parseAnswer } from '../../support/http-connection.ts'

/** Where requests go. */
export interface Target {
  host: string
  port: number
  scheme: 'http' | 'https'
}

/** A body that comes in parts with pauses between them. */
export interface SlowBody {
  sizeBytes: number
  parts: number
  pauseMs: number
}

/** An HTTP/1.1 connection, plain or over TLS, with one request at a time. Nothing is ever sent twice. */
export interface Connection {
  /** When it was asked for. */
  readonly openedAt: number
  readonly isOpen: boolean
  usedAt: number
  /** @throws Error with the reason when no whole answer comes. */
  get(path: string, timeoutMs: number): Promise<Answer>
  post(path: string, body: SlowBody, timeoutMs: number): Promise<Answer>
  close(): void
}

/** A failure to connect is told by the first request. */
export function openConnection({ host, port, scheme }: Target): Connection {
  let received = ''
  let failure: Error | undefined
  let isOpen = true
  let waiting: PromiseWithResolvers<Answer> | undefined
  const socket = open(port, scheme, host)
  const lost = (error: Error) => {
    isOpen = false
    failure ??= new Error(`${error.message} after ${received.length} bytes of the answer`)
    waiting?.reject(failure)
    socket.destroy()
  }
  socket.on('error', lost)
  socket.on('close', () => lost(new Error('closed')))
  socket.on('end', () => lost(new Error('ended')))
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1')
    const answer = parseAnswer(received)
    if (answer === undefined) return
    received = ''
    if (answer.isLast) isOpen = false
    waiting?.resolve(answer)
    if (answer.isLast) socket.end()
  })

  async function exchange(send: (isOver: () => boolean) => unknown, timeoutMs: number): Promise<Answer> {
    const own = Promise.withResolvers<Answer>()
    waiting = own
    if (failure !== undefined) own.reject(failure)
    let isOver = false
    const timer = setTimeout(() => lost(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
    const answer = own.promise.finally(() => {
      isOver = true
      clearTimeout(timer)
      connection.usedAt = performance.now()
    })
    void send(() => isOver)
    return await answer
  }

  const connection: Connection = {
    openedAt: performance.now(),
    usedAt: performance.now(),
    get isOpen() {
      return isOpen
    },
    get: (path, timeoutMs) => exchange(() => socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`), timeoutMs),
    post: (path, { sizeBytes, parts, pauseMs }, timeoutMs) =>
      exchange(async (isOver) => {
        socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${sizeBytes}\r\n\r\n`)
        for (let left = parts, rest = sizeBytes; left > 0 && !isOver(); left--) {
          const size = left === 1 ? rest : Math.floor(sizeBytes / parts)
          socket.write(Buffer.alloc(size, 'x'))
          rest -= size
          await Bun.sleep(pauseMs)
        }
      }, timeoutMs),
    close() {
      isOpen = false
      socket.end()
    },
  }
  return connection
}

function open(port: number, scheme: Target['scheme'], servername: string): Socket {
  const at = { host: '127.0.0.1', port }
  // The certificate is the stand-in that signs itself: what is looked at here is whether answers come.
  return scheme === 'http' ? connectTcp(at) : connectTls({ ...at, servername, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
}
