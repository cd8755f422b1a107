import { type ClientHttp2Session, connect } from 'node:http2'
import type { Kind, Record } from './attempt.ts'
import type { Target } from './connection.ts'

const REQUEST_TIMEOUT_MS = 30_000

export interface Http2 {
  get(kind: Kind, path: string): Promise<void>
  close(): void
}

interface Opened {
  session: ClientHttp2Session
  openedAt: number
}

/** Many requests at a time on one connection; a new one is made when the server asks to leave the old. Nothing is sent twice. */
export function createHttp2({ host, port }: Target, expected: string, record: Record): Http2 {
  const all = new Set<ClientHttp2Session>()
  let current: Opened | undefined

  function take(): Opened {
    if (current !== undefined) return current
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, servername: host })
    const own: Opened = { session, openedAt: performance.now() }
    all.add(session)
    const leave = () => {
      if (current === own) current = undefined
    }
    for (const event of ['goaway', 'error']) session.on(event, leave)
    session.on('close', () => {
      leave()
      all.delete(session)
    })
    current = own
    return own
  }

  return {
    async get(kind, path) {
      const { session, openedAt } = take()
      const sentAt = performance.now()
      const reason = await request(session, host, path).then(
        (answer) => (answer.startsWith(`200 ${expected}`) && answer.endsWith('\n') ? undefined : answer.slice(0, 100)),
        (error: Error) => error.message,
      )
      record.add({ kind, openedAt, sentAt, doneAt: performance.now(), reason })
    },
    close() {
      for (const session of all) session.close()
    },
  }
}

function request(session: ClientHttp2Session, host: string, path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const stream = session.request({ ':path': path, ':authority': host })
  const timer = setTimeout(() => {
    reject(new Error(`no answer in ${REQUEST_TIMEOUT_MS} ms`))
    stream.destroy()
  }, REQUEST_TIMEOUT_MS)
  let text = ''
  stream.on('response', (headers) => {
    text = `${headers[':status']} `
  })
  stream.setEncoding('utf8')
  stream.on('data', (part: string) => {
    text += part
  })
  stream.on('end', () => resolve(text))
  stream.on('error', reject)
  stream.on('close', () => reject(new Error(`closed after ${JSON.stringify(text)}`)))
  stream.end()
  return promise.finally(() => clearTimeout(timer))
}
