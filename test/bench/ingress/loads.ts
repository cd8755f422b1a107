import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { HOST, program, type World } from './world.ts'

/** What one proxy did under one load. */
export interface LoadResult {
  requests: number
  seconds: number
  p50Ms: number
  p99Ms: number
  failures: number
}

export interface WrkLoad {
  url: string
  connections: number
  seconds: number
  /** Lua file; see wrk's SCRIPTING. */
  script?: string
}

export async function wrk(world: World, { url, connections, seconds, script }: WrkLoad): Promise<LoadResult> {
  const scripted = script === undefined ? [] : ['-s', script]
  const argv = [
    program('wrk'),
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '20s',
    '--latency',
    '-H',
    `Host: ${HOST}`,
    ...scripted,
    url,
  ]
  const output = await world.runBeside(argv)
  const failed = Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0)
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(output)?.slice(1).map(Number) ?? []
  const [, requests, took, unit] = /(\d+) requests in ([\d.]+)(ms|s|m),/.exec(output) ?? []
  return {
    requests: Number(requests),
    seconds: inMs(took, unit) / 1000,
    p50Ms: latencyAt(output, 50),
    p99Ms: latencyAt(output, 99),
    failures: broken.reduce((sum, count) => sum + count, failed),
  }
}

function latencyAt(output: string, percent: number): number {
  const [, value, unit] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(output) ?? []
  return inMs(value, unit)
}

const msPer: Record<string, number> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }
const inMs = (value: string | undefined, unit: string | undefined): number => Number(value) * (msPer[unit ?? ''] ?? Number.NaN)

/** HTTP/2: some clients with ten streams each, for a number of requests. */
export async function h2load(world: World, load: { port: number; clients: number; streams: number; seconds: number }): Promise<LoadResult> {
  const url = `https://${HOST}:${load.port}/`
  const sizes = ['-c', `${load.clients}`, '-m', `${load.streams}`, '-D', `${load.seconds}`, '--warm-up-time', '1']
  const logFile = join(world.dir, 'h2load.log')
  const output = await world.runBeside([program('h2load'), ...sizes, '--log-file', logFile, '--connect-to', `127.0.0.1:${load.port}`, url])
  const [, succeeded, failed] = /(\d+) succeeded, (\d+) failed/.exec(output) ?? []
  const [, rate] = /, ([\d.]+) req\/s/.exec(output) ?? []
  // Each line ends with the microseconds of a request.
  const micros = (await Bun.file(logFile).text())
    .split('\n')
    .map((line) => Number(line.split('\t')[2]))
    .filter((value) => value > 0)
  const sorted = Float64Array.from(micros).sort()
  rmSync(logFile)
  return {
    requests: Number(rate) * load.seconds,
    seconds: load.seconds,
    p50Ms: (sorted[Math.floor(sorted.length * 0.5)] ?? Number.NaN) / 1000,
    p99Ms: (sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN) / 1000,
    failures: Number(succeeded) === 0 ? 1 : Number(failed),
  }
}

/** One request on each connection, again and again. Not with wrk: it resumes its sessions, and a resumed handshake is not a full one. */
export async function handshakes(world: World, load: { port: number; connections: number; seconds: number }): Promise<LoadResult> {
  const count = `${load.connections}`
  const argv = [
    program('h2load'),
    '--h1',
    '-c',
    count,
    '-n',
    count,
    '--connect-to',
    `127.0.0.1:${load.port}`,
    `https://${HOST}:${load.port}/`,
  ]
  const result: LoadResult = { requests: 0, seconds: 0, p50Ms: Number.NaN, p99Ms: Number.NaN, failures: 0 }
  const startedAt = performance.now()
  while (performance.now() - startedAt < load.seconds * 1000) {
    const output = await world.runBeside(argv)
    const [, took, unit] = /finished in ([\d.]+)(us|ms|s)/.exec(output) ?? []
    const [, succeeded] = /(\d+) succeeded/.exec(output) ?? []
    result.requests += Number(succeeded)
    result.failures += load.connections - Number(succeeded)
    result.seconds += inMs(took, unit) / 1000
  }
  return result
}

/** Messages of 64 bytes, each sent back. */
export async function echo(world: World, load: { port: number; connections: number; seconds: number }): Promise<LoadResult> {
  const script = join(import.meta.dirname, 'websocket-load-child.ts')
  const output = await world.runBeside([process.execPath, script, `${load.port}`, `${load.connections}`, `${load.seconds}`])
  const { count, p50Ms, p99Ms } = JSON.parse(output) as { count: number; p50Ms: number; p99Ms: number }
  return { requests: count, seconds: load.seconds, p50Ms, p99Ms, failures: count === 0 ? 1 : 0 }
}
