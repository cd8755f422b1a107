import { connectRaw, type RawConnection } from '../world.ts'

/** One request on a connection of its own, and what became of it. Times are of `performance.now()`. */
export interface Attempt {
  kind: string
  /** When the connection was asked for. */
  startedAt: number
  doneAt: number
  /** Undefined when it was answered whole. */
  failure: string | undefined
}

export interface MixedLoad {
  readonly attempts: readonly Attempt[]
  failures(): Attempt[]
  stop(): Promise<void>
}

const GAP_MS = 4
const UPLOAD_PARTS = 5
const UPLOAD_PART_MS = 40

/** New connections without end, slow answers and slow uploads, each on a connection of its own. Expects the upstream below. */
export function startMixedLoad(port: number): MixedLoad {
  const attempts: Attempt[] = []
  let isStopped = false
  const repeat = async (kind: string, gapMs: number, once: (connection: RawConnection) => Promise<void>) => {
    while (!isStopped) {
      const startedAt = performance.now()
      const failure = await attempt(port, once)
      attempts.push({ kind, startedAt, doneAt: performance.now(), failure })
      await Bun.sleep(gapMs)
    }
  }
  const loops = [
    ...Array.from({ length: 3 }, () => repeat('new connection', GAP_MS, (connection) => get(connection, '/'))),
    ...Array.from({ length: 3 }, () => repeat('slow answer', 0, (connection) => get(connection, '/slow'))),
    ...Array.from({ length: 3 }, () => repeat('upload', 0, upload)),
  ]
  return {
    attempts,
    failures: () => attempts.filter(({ failure }) => failure !== undefined),
    async stop() {
      isStopped = true
      await Promise.all(loops)
    },
  }
}

async function attempt(port: number, once: (connection: RawConnection) => Promise<void>): Promise<string | undefined> {
  try {
    const connection = await connectRaw(port)
    await once(connection)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function get(connection: RawConnection, path: string): Promise<void> {
  connection.send(`GET ${path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`)
  expectText((await connection.closed).text, `GET ${path} 0`)
}

async function upload(connection: RawConnection): Promise<void> {
  const part = 'x'.repeat(20_000)
  connection.send(`POST /upload HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nContent-Length: ${part.length * UPLOAD_PARTS}\r\n\r\n`)
  for (let index = 0; index < UPLOAD_PARTS; index++) {
    connection.send(part)
    await Bun.sleep(UPLOAD_PART_MS)
  }
  expectText((await connection.closed).text, `POST /upload ${part.length * UPLOAD_PARTS}`)
}

function expectText(answer: string, wanted: string): void {
  if (!answer.startsWith('HTTP/1.1 200') || !answer.includes(wanted)) throw new Error(`answered ${JSON.stringify(answer.slice(0, 200))}`)
}

const SLOW_PARTS = 6
const SLOW_PART_MS = 50

/** Answers with what it was asked and how many bytes came with it; `/slow` bit by bit; `/echo` is a WebSocket. */
export function startEchoUpstream(name = 'upstream'): { port: number; stop(): void } {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request, { upgrade }) {
      const { pathname } = new URL(request.url)
      if (pathname === '/echo' && upgrade.call(server, request)) return undefined
      const { length } = await request.text()
      const text = `${request.method} ${pathname} ${length} ${name}\n`
      if (pathname !== '/slow') return new Response(text)
      return new Response(slowly(text))
    },
    websocket: { message: (socket, message) => void socket.send(message) },
  })
  return { port: server.port ?? 0, stop: () => void server.stop(true) }
}

async function* slowly(text: string): AsyncGenerator<string> {
  yield text
  for (let part = 0; part < SLOW_PARTS; part++) {
    await Bun.sleep(SLOW_PART_MS)
    yield '.'
  }
}
