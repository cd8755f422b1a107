import { readdirSync, readFileSync } from 'node:fs'
import type { ShellNotice, ShellRequest } from '../../shared/shell.ts'
import type { TestServer } from './server.ts'
import { closed } from './socket.ts'
import { until } from './until.ts'

export interface TestShell {
  socket: WebSocket
  /** Everything it has printed. */
  output(): Buffer
  text(): string
  type(input: string | Uint8Array): void
  say(request: ShellRequest): void
  /** Waits until it has printed this. */
  prints(pattern: RegExp | string): Promise<string>
  notices: ShellNotice[]
  /** The code and reason with which the server closed it. */
  closed: Promise<{ code: number; reason: string }>
}

type Query = Record<string, string | number>

type Path = 'shell' | 'interactive-jobs'

export const shellUrl = (server: Pick<TestServer, 'url'>, serviceId: string, query: Query = {}, path: Path = 'shell'): string =>
  `${server.url}/v1/services/${serviceId}/${path}?${new URLSearchParams(Object.fromEntries(Object.entries(query).map(([key, value]) => [key, String(value)])))}`

/** Opens a shell as the administrator, or with these headers. */
export async function openShell(
  server: Pick<TestServer, 'url' | 'adminToken'>,
  serviceId: string,
  {
    query = {},
    headers = { authorization: `Bearer ${server.adminToken}` },
    path,
  }: { query?: Query; headers?: Record<string, string>; path?: Path } = {},
): Promise<TestShell> {
  const socket = new WebSocket(shellUrl(server, serviceId, query, path).replace(/^http/, 'ws'), { headers })
  socket.binaryType = 'nodebuffer'
  const chunks: Buffer[] = []
  const notices: ShellNotice[] = []
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') notices.push(JSON.parse(data) as ShellNotice)
    else chunks.push(data as unknown as Buffer)
  })
  const ended = closed(socket)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('close', ({ code, reason }) => reject(new Error(`Closed before it opened: ${code} ${reason}`)))
  })
  const text = () => Buffer.concat(chunks).toString('utf8')
  return {
    socket,
    notices,
    closed: ended,
    output: () => Buffer.concat(chunks),
    text,
    type: (input) => socket.send(typeof input === 'string' ? Buffer.from(input) : input),
    say: (request) => socket.send(JSON.stringify(request)),
    async prints(pattern) {
      const find = () => {
        const found = typeof pattern === 'string' ? text().includes(pattern) && [pattern] : pattern.exec(text())
        return found ? (found[1] ?? found[0]) : undefined
      }
      return await until(`the shell prints ${pattern}`, find).catch((error: unknown) => {
        throw new Error(`${error}; it printed ${JSON.stringify(text().slice(-500))}`)
      })
    },
  }
}

/** Pids of processes whose command line holds this. */
export function pidsWith(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => commandLineOf(pid).includes(marker))
    .map(Number)
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
