import type { Answer } from '../../support/http-connection.ts'
import type { Kind, Record } from './attempt.ts'
import { type Connection, openConnection, type SlowBody, type Target } from './connection.ts'

const REQUEST_TIMEOUT_MS = 30_000
/** Clients leave connections that they do not use, long before the ingress would. */
const IDLE_MS = 2_000

export interface Http1 {
  /** A request on a connection that is idle, or a new one where there is none. */
  keptAlive(path: string): Promise<void>
  /** A request on a connection of its own. */
  fresh(path: string): Promise<void>
  /** A request that takes that long, on a connection that is idle. */
  long(ms: number): Promise<void>
  upload(body: SlowBody): Promise<void>
  close(): void
}

/** Sends single requests and records what becomes of each. A right answer begins with `expected`. */
export function createHttp1(target: Target, expected: string, record: Record): Http1 {
  let idle: Connection[] = []

  /** The one that has been idle for longest, so that all are used while they are good. */
  function take(): Connection {
    const freshFrom = performance.now() - IDLE_MS
    for (const { close } of idle.filter(({ isOpen, usedAt }) => isOpen && usedAt < freshFrom)) close()
    idle = idle.filter(({ isOpen }) => isOpen)
    return idle.shift() ?? openConnection(target)
  }

  async function attempt(what: string, connection: Connection, ask: (connection: Connection) => Promise<Answer>, ending = '\n') {
    const sentAt = performance.now()
    const reason = await ask(connection).then(
      ({ status, body }) =>
        status === 200 && body.startsWith(expected) && body.endsWith(ending) ? undefined : `status ${status}: ${body.slice(0, 100)}`,
      (error: Error) => error.message,
    )
    const kind = `${what}/${target.scheme}` as Kind
    record.add({ kind, openedAt: connection.openedAt, sentAt, doneAt: performance.now(), reason })
    if (reason !== undefined && connection.isOpen) connection.close()
  }

  async function onKept(what: string, ask: (connection: Connection) => Promise<Answer>, ending?: string): Promise<void> {
    const connection = take()
    await attempt(what, connection, ask, ending)
    if (connection.isOpen) idle.push(connection)
  }

  return {
    keptAlive: (path) => onKept('kept-alive', (connection) => connection.get(path, REQUEST_TIMEOUT_MS)),
    long: (ms) => onKept('long', (connection) => connection.get(`/slow?ms=${ms}`, REQUEST_TIMEOUT_MS)),
    upload: (body) => onKept('upload', (connection) => connection.post('/upload', body, REQUEST_TIMEOUT_MS), ` ${body.sizeBytes}\n`),
    async fresh(path) {
      const connection = openConnection(target)
      await attempt('fresh', connection, (opened) => opened.get(path, REQUEST_TIMEOUT_MS))
      connection.close()
    },
    close() {
      for (const connection of idle) connection.close()
    },
  }
}
