import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations } from '../../shared/operations/all.ts'
import { freePorts } from '../support/free-ports.ts'

export const TOKEN = 'a-token-for-benchmarks-only-123'
const READY_TIMEOUT_MS = 20_000

/** The compiled server with its ingress, for a benchmark. */
export interface RunningServer {
  /** Its data directory. */
  data: string
  apiUrl: string
  ingressPort: number
  /** From the start of the process to its line that says it is ready. */
  readyMs: number
  pid: number
  call<T>(path: string, options?: { method?: string; body?: Blob | string; type?: string }): Promise<T>
  /** Ends `cpd serve` and starts it again on the same data, with which something may be done meanwhile. */
  restart(meanwhile?: () => void): Promise<RunningServer>
  /** Ends everything and removes the data. */
  stop(): Promise<void>
}

/** Starts one with these settings beside its own. */
export async function startServer(settings: Record<string, string> = {}): Promise<RunningServer> {
  const data = await mkdtemp(join(tmpdir(), 'cpd-bench-'))
  const [apiPort = 0, ingressPort = 0] = freePorts(2)
  return await start({ data, apiPort, ingressPort, settings })
}

interface Place {
  data: string
  apiPort: number
  ingressPort: number
  settings: Record<string, string>
}

async function start(place: Place): Promise<RunningServer> {
  const { data, apiPort, ingressPort, settings } = place
  const env = { ...process.env, SERVICE_API_TOKEN: TOKEN, CP_RATE_LIMIT: '0', CP_ADMIN_PASSWORD: 'benchmarks only', ...settings }
  const flags = ['--data', data, '--listen', `127.0.0.1:${apiPort}`, '--ingress', `127.0.0.1:${ingressPort}`]
  const begun = performance.now()
  const child = Bun.spawn(['dist/cpd', 'serve', ...flags], { env, stdout: 'pipe', stderr: 'ignore' })
  await readyLine(child.stdout)
  const readyMs = performance.now() - begun
  const apiUrl = `http://127.0.0.1:${apiPort}`
  const end = async () => {
    child.kill('SIGTERM')
    await child.exited
  }
  return {
    data,
    apiUrl,
    ingressPort,
    readyMs,
    pid: child.pid,
    async call<T>(
      path: string,
      { method = 'GET', body, type = 'application/json' }: { method?: string; body?: Blob | string; type?: string } = {},
    ) {
      const headers = { authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { 'content-type': type }) }
      const response = await fetch(`${apiUrl}${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return (response.status === 204 ? undefined : await response.json()) as T
    },
    async restart(meanwhile) {
      await end()
      meanwhile?.()
      return await start(place)
    },
    async stop() {
      await end()
      await Bun.spawn(['dist/cpd', 'stop', '--data', data], { stdout: 'ignore' }).exited
      await rm(data, { recursive: true, force: true })
    },
  }
}

async function readyLine(stdout: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder()
  const late = setTimeout(() => {
    throw new Error('the server was not ready in time')
  }, READY_TIMEOUT_MS)
  let text = ''
  for await (const part of stdout) {
    text += decoder.decode(part, { stream: true })
    if (text.includes(' ready: ')) break
  }
  clearTimeout(late)
}

/** Path of an operation with its parameters filled in. */
export function pathOf(id: keyof typeof operations, params: Record<string, string> = {}): string {
  return operations[id].path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '')
}

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
