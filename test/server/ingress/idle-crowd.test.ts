import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createIngressClient } from '../../../server/ingress/control/client.ts'
import { type SpawnedProcess, spawnProcess } from '../../../server/platform/process/spawn.ts'
import { eventually, exchangeRaw, ok, proxyTo, type RawUpstream, startRawUpstream } from './world.ts'

const CONNECTIONS = 10_000
const OPEN_FILES = 2 * CONNECTIONS
const KEEP_ALIVE_MS = 12_000
/** Resident memory for one connection that says nothing; the kernel's buffers are not counted. */
const MAX_BYTES_EACH = 16 * 1024

let dir: string
let upstream: RawUpstream
const started: SpawnedProcess[] = []

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-crowd-'))
  upstream = startRawUpstream((socket, text) => {
    if (text.endsWith('\r\n\r\n')) socket.write(ok('fine'))
  })
})

afterAll(async () => {
  for (const child of started) child.kill('SIGKILL')
  await Promise.all(started.map(({ exited }) => exited))
  upstream.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** Starts one of our programs with room for that many sockets. */
function start(program: string, ...args: string[]): SpawnedProcess {
  const prlimit = Bun.which('prlimit')
  if (prlimit === null) throw new Error('prlimit is not installed. Install it (Debian: apt-get install util-linux).')
  const argv = [prlimit, `--nofile=${OPEN_FILES}`, '--', process.execPath, join(import.meta.dirname, 'processes', program), ...args]
  const child = spawnProcess(argv, { stdout: 'pipe', stderr: 'stdout' })
  started.push(child)
  return child
}

function linesOf({ stdout }: SpawnedProcess): () => Promise<string> {
  const reader = stdout?.getReader()
  return async () => new TextDecoder().decode((await reader?.read())?.value)
}

const residentBytes = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

test('ten thousand idle connections cost little, keep nobody from being served, and are closed in time', async () => {
  const ingress = start('crowded-child.ts', dir, String(KEEP_ALIVE_MS))
  const port = Number(/Serving at 127\.0\.0\.1:(\d+)/.exec(await linesOf(ingress)())?.[1])
  const client = createIngressClient(join(dir, 'ingress.sock'))
  await client.publish({ version: 1, hosts: { 'a.test': proxyTo(upstream.port) } })
  const ask = async () => (await exchangeRaw(port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')).text
  for (let index = 0; index < 100; index++) await ask()
  const before = residentBytes(ingress.pid)
  const crowd = start('idle-crowd-child.ts', String(port), String(CONNECTIONS))
  const next = linesOf(crowd)
  expect(await next()).toBe('open\n')
  await eventually(async () => (await client.status()).activeConnections === CONNECTIONS)
  for (let index = 0; index < 100; index++) expect(await ask()).toContain('fine')
  const bytesEach = (residentBytes(ingress.pid) - before) / CONNECTIONS
  console.log(`${CONNECTIONS} idle connections: ${Math.round(before / 2 ** 20)} MiB before, ${Math.round(bytesEach)} bytes each`)
  expect(bytesEach).toBeLessThan(MAX_BYTES_EACH)
  expect(await next()).toBe('closed\n')
  expect((await client.status()).activeConnections).toBe(0)
  expect(await ask()).toContain('fine')
})
