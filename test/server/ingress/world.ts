import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIngressClient, type IngressClient } from '../../../server/ingress/control/client.ts'
import type { IngressLimits } from '../../../server/ingress/limits/limits.ts'
import type { DatabaseOptions } from '../../../server/ingress/process/database-side.ts'
import { type RunningIngress, runIngress } from '../../../server/ingress/process/main.ts'
import type { DatabaseRoutes } from '../../../server/ingress/tables/database-route.ts'
import type { Route } from '../../../server/ingress/tables/route-table.ts'
import type { TlsOptions } from '../../../server/ingress/tls/tls-side.ts'

/** A real ingress on a port of its own, with its files in a folder of their own. */
export interface World {
  dir: string
  controlSocketPath: string
  routesFilePath: string
  ingress: RunningIngress
  client: IngressClient
  port: number
  logged: string[]
  /** Publishes these hosts as the next version. */
  publish(hosts: Record<string, Route>, databases?: DatabaseRoutes): Promise<void>
  close(): Promise<void>
}

export interface WorldOptions {
  limits?: Partial<IngressLimits>
  trustedProxies?: string[]
  /** Below the world's folder. */
  accessLog?: string
  /** Its file stands in the world's folder. */
  tls?: Omit<TlsOptions, 'certificatesFilePath'>
  databases?: DatabaseOptions
}

const TEST_TICK_MS = 10

export async function startWorld({ limits = {}, trustedProxies = [], accessLog, tls, databases }: WorldOptions = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-ingress-'))
  const [controlSocketPath, routesFilePath] = [join(dir, 'ingress.sock'), join(dir, 'routes.json')]
  const logged: string[] = []
  const ingress = await runIngress({
    listen: { host: '127.0.0.1', port: 0 },
    controlSocketPath,
    routesFilePath,
    ...(tls !== undefined && { tls: { ...tls, certificatesFilePath: join(dir, 'certificates.json') } }),
    ...(databases !== undefined && { databases }),
    version: 'test',
    trustedProxies,
    log: (line) => logged.push(line),
    ...(accessLog === undefined ? {} : { accessLogDir: join(dir, accessLog) }),
    limits: { tickMs: TEST_TICK_MS, closeGraceMs: 500, ...limits },
  })
  const client = createIngressClient(controlSocketPath)
  let version = 0
  return {
    dir,
    controlSocketPath,
    routesFilePath,
    ingress,
    client,
    port: ingress.address.port,
    logged,
    publish: (hosts, rows) => client.publish({ version: ++version, hosts, ...(rows && { databases: rows }) }),
    close: async () => {
      await ingress.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A route to instances at these ports; the instance of port 1234 is `i-1234`. */
export function proxyTo(...ports: number[]): Route {
  const targets = ports.map((port) => ({ instanceId: `i-${port}`, host: '127.0.0.1', port }))
  return { kind: 'proxy', serviceId: 'srv-a', name: 'shop', targets }
}

/** One TCP connection driven by hand, as no HTTP client would. */
export interface RawConnection {
  send(text: string | Buffer): void
  /** Closes our side. */
  end(): void
  kill(): void
  /** Everything received so far, as latin1. */
  text(): string
  /** Resolves once what was received satisfies this; rejects when the connection ends before. */
  until(isEnough: (text: string) => boolean): Promise<string>
  /** Resolves when the connection has ended: the text, and whether it was reset. */
  closed: Promise<{ text: string; isReset: boolean }>
}

export async function connectRaw(port: number): Promise<RawConnection> {
  let text = ''
  let unsent: Buffer[] = []
  let waiting: (() => void)[] = []
  let isClosed = false
  const closed = Promise.withResolvers<{ text: string; isReset: boolean }>()
  const wake = () => {
    const waiters = waiting
    waiting = []
    for (const resume of waiters) resume()
  }
  const flush = (socket: Bun.Socket) => {
    for (let first = unsent[0]; first !== undefined; first = unsent[0]) {
      const written = Math.max(0, socket.write(first))
      if (written < first.length) {
        unsent[0] = first.subarray(written)
        return
      }
      unsent.shift()
    }
  }
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_socket, bytes) {
        text += bytes.toString('latin1')
        wake()
      },
      drain: flush,
      close(_socket, error) {
        isClosed = true
        closed.resolve({ text, isReset: error !== undefined && error !== null })
        wake()
      },
    },
  })
  return {
    send(bytes) {
      unsent.push(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
      if (unsent.length === 1) flush(socket)
    },
    end: () => void socket.shutdown(),
    kill: () => {
      unsent = []
      socket.terminate()
    },
    text: () => text,
    async until(isEnough) {
      while (!isEnough(text)) {
        if (isClosed) throw new Error(`The connection ended after ${JSON.stringify(text)}`)
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
      return text
    },
    closed: closed.promise,
  }
}

/** Sends a request and reads until the connection ends. */
export async function exchangeRaw(port: number, request: string | Buffer): Promise<{ text: string; isReset: boolean }> {
  const connection = await connectRaw(port)
  connection.send(request)
  return connection.closed
}

/** An upstream that answers each connection by hand. */
export interface RawUpstream {
  port: number
  connectionCount(): number
  /** What all connections have received. */
  received(): string
  stop(): void
}

export type UpstreamScript = (socket: Bun.Socket<{ received: string; answers: number }>, text: string) => void

/** `onData` is called with all a connection has received whenever more of it comes. */
export function startRawUpstream(onData: UpstreamScript): RawUpstream {
  let connections = 0
  let all = ''
  const listener = Bun.listen<{ received: string; answers: number }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        connections++
        socket.data = { received: '', answers: 0 }
      },
      data(socket, bytes) {
        const text = bytes.toString('latin1')
        all += text
        socket.data.received += text
        onData(socket, socket.data.received)
      },
    },
  })
  return { port: listener.port, connectionCount: () => connections, received: () => all, stop: () => listener.stop(true) }
}

export function ok(body: string, ...headers: string[]): string {
  return `HTTP/1.1 200 OK\r\n${headers.map((header) => `${header}\r\n`).join('')}Content-Length: ${body.length}\r\n\r\n${body}`
}

export async function eventually(isSo: () => boolean | Promise<boolean>, timeoutMs = 5000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not so within ${timeoutMs} ms: ${isSo}`)
    await Bun.sleep(5)
  }
}
