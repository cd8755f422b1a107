import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess, type SpawnedProcess, spawnProcess } from '../../../server/platform/process/spawn.ts'

/** The proxy has one core for itself; load and upstream share the other. */
const PROXY_CORE = '0'
export const OTHER_CORE = '1'

export const HOST = 'app.bench.test'
export const STATIC_HOST = 'static.bench.test'
export const SMALL_BYTES = 1024
export const LARGE_BYTES = 1024 * 1024

/** For idle connections; our ingress would wait longer for its clients. */
const END_GRACE_MS = 2000

/** What every proxy of one run is given. */
export interface World {
  dir: string
  upstreamPort: number
  /** Holds `small.txt`, `medium.css` and `large.bin`. */
  siteDir: string
  /** PEM files of one ECDSA P-256 certificate for all hosts. */
  certificateFile: string
  keyFile: string
  /** Starts the program under test on the core of its own. */
  startProxy(argv: readonly string[], env?: Record<string, string>): SpawnedProcess
  /** Runs something on the other core and gives what it prints. */
  runBeside(argv: readonly string[]): Promise<string>
  close(): Promise<void>
}

/** @throws Error when a program that the benchmark needs is missing. */
export async function createWorld(): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-edge-'))
  const started: SpawnedProcess[] = []
  const start = (core: string, argv: readonly string[], options: Parameters<typeof spawnProcess>[1]) => {
    const child = spawnProcess([program('taskset'), '-c', core, ...argv], options)
    started.push(child)
    return child
  }
  const certificateFile = join(dir, 'certificate.pem')
  const keyFile = join(dir, 'key.pem')
  await makeCertificate(certificateFile, keyFile)
  const siteDir = join(dir, 'site')
  await Bun.write(join(siteDir, 'small.txt'), 'x'.repeat(SMALL_BYTES))
  await Bun.write(join(siteDir, 'medium.css'), 'x'.repeat(100 * SMALL_BYTES))
  await Bun.write(join(siteDir, 'large.bin'), 'x'.repeat(LARGE_BYTES))
  const upstream = start(OTHER_CORE, [process.execPath, join(import.meta.dirname, 'upstream-child.ts')], { stdout: 'pipe' })
  const upstreamPort = Number(await firstText(upstream))
  return {
    dir,
    upstreamPort,
    siteDir,
    certificateFile,
    keyFile,
    startProxy: (argv, env = {}) => start(PROXY_CORE, argv, { env, stdout: { appendTo: join(dir, 'proxies.log') }, stderr: 'stdout' }),
    runBeside: async (argv) => (await runProcess([program('taskset'), '-c', OTHER_CORE, ...argv])).stdout,
    close: async () => {
      // Killed at once, a master would leave its workers behind.
      for (const child of started) child.kill('SIGTERM')
      await Promise.race([Promise.all(started.map(({ exited }) => exited)), Bun.sleep(END_GRACE_MS)])
      for (const child of started) child.kill('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Where a program is. @throws Error naming it when it is not installed. */
export function program(name: string): string {
  const path = Bun.which(name) ?? Bun.which(`/usr/sbin/${name}`)
  if (path === null) throw new Error(`${name} is not installed. apt-get install haproxy nginx caddy wrk nghttp2-client openssl util-linux`)
  return path
}

/** Time on the processor of a process and its children in microseconds (proc(5): fields 14 and 15, in hundredths of a second). */
export function cpuMicrosOf(pid: number): number {
  return sumOverTree(pid, (own) => {
    const fields = readFileSync(`/proc/${own}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  })
}

/** Memory that a process and its children hold, in MiB, shared pages counted once for each. */
export function residentMibOf(pid: number): number {
  return sumOverTree(pid, (own) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${own}/status`, 'utf8'))?.[1] ?? 0) / 1024)
}

function sumOverTree(pid: number, figureOf: (pid: number) => number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return children.reduce((sum, child) => sum + sumOverTree(child, figureOf), figureOf(pid))
}

export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  listener.stop(true)
  return listener.port
}

async function makeCertificate(certificateFile: string, keyFile: string): Promise<void> {
  const subject = ['-subj', '/CN=bench.test', '-addext', 'subjectAltName=DNS:bench.test,DNS:*.bench.test', '-days', '7']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile]
  await runProcess([program('openssl'), 'req', '-x509', ...key, '-out', certificateFile, ...subject])
  writeFileSync(`${certificateFile}.both`, readFileSync(certificateFile, 'utf8') + readFileSync(keyFile, 'utf8'))
}

async function firstText(child: SpawnedProcess): Promise<string> {
  const part = await child.stdout?.getReader().read()
  if (part?.value === undefined) throw new Error('A process of the benchmark ended before it was ready')
  return new TextDecoder().decode(part.value)
}
