import { join } from 'node:path'
import { generateLoad, type LoadResult } from './http-load.ts'

const CONNECTIONS = 64
const WARM_UP_MS = 1500
const MEASURED_MS = 4000
const GOAL_PER_SECOND = 25_000
const GOAL_P99_MS = 10

/** Authenticated GET of one service with an API key at 64 connections, against a bare Bun.serve that sends the same JSON. */
export async function run(): Promise<void> {
  const { port, barePort, path, token, stop } = await startServerOfBench()
  try {
    const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`
    const measure = async (target: number): Promise<LoadResult> => {
      const load = { host: '127.0.0.1', port: target, request, connections: CONNECTIONS }
      await generateLoad({ ...load, durationMs: WARM_UP_MS })
      return generateLoad({ ...load, durationMs: MEASURED_MS })
    }
    const bare = await measure(barePort)
    const api = await measure(port)
    report(bare, api)
  } finally {
    await stop()
  }
}

/** A server in a process of its own, with one service; beside it a bare one that sends the same JSON. */
export interface ServerOfBench {
  port: number
  barePort: number
  path: string
  /** A viewer's key. */
  token: string
  stop(): Promise<void>
}

export async function startServerOfBench(): Promise<ServerOfBench> {
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, 'api-server.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return {
    ...(JSON.parse(await firstLine(child.stdout)) as Omit<ServerOfBench, 'stop'>),
    async stop() {
      child.stdin?.end()
      await child.exited
    },
  }
}

function report(bare: LoadResult, api: LoadResult): void {
  const line = ({ requestsPerSecond, p50Ms, p99Ms }: LoadResult) =>
    `${Math.round(requestsPerSecond)}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`
  const isMet = api.requestsPerSecond >= GOAL_PER_SECOND && api.p99Ms < GOAL_P99_MS && api.failures === 0
  console.log(`bare Bun.serve        ${line(bare)}`)
  console.log(
    `GET /v1/services/:id  ${line(api)} = ${(api.requestsPerSecond / bare.requestsPerSecond).toFixed(2)} x bare; ${api.failures} failed`,
  )
  console.log(`goal ${GOAL_PER_SECOND}/s, p99 under ${GOAL_P99_MS} ms: ${isMet ? 'met' : 'MISSED'}`)
}

async function firstLine(stream: ReadableStream<Uint8Array> | undefined): Promise<string> {
  let text = ''
  for await (const chunk of stream ?? []) {
    text += new TextDecoder().decode(chunk)
    const end = text.indexOf('\n')
    if (end !== -1) return text.slice(0, end)
  }
  throw new Error('The server of the benchmark ended before it listened')
}

if (import.meta.main) await run()
