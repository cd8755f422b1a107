import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIngressClient } from '../../server/ingress/control-client.ts'
import { runProcess, type SpawnedProcess, spawnProcess } from '../../server/process/spawn.ts'
import { generateLoad } from './http-load.ts'

export interface BenchRow {
  name: string
  requestsPerSecond: number
  p99Ms: number
  /** Of the proxy's processes, for one request: the figure that other work on the machine disturbs least. */
  cpuMicros: number
  failures: number
}

const CONNECTIONS = 64
const ROUNDS = 3
/** Our code is compiled to its final form only after some 100,000 requests. */
const WARM_UP_SECONDS = 3
const MEASURED_SECONDS = 3
const HOST = 'app.bench'
/** The proxy has one core for itself; load and upstream share the other. */
const PROXY_CORE = '0'
const OTHER_CORE = '1'

interface Proxy {
  name: string
  port: number
  pid: number
}

/** Starts a proxy; undefined where its program is not installed. */
type Peer = (bench: Bench) => Promise<Proxy | undefined>

interface Bench {
  dir: string
  upstreamPort: number
  start(core: string, argv: string[]): SpawnedProcess
}

/** Requests a second and p99 of the ingress beside haproxy and nginx where they are installed: 1 KB, keep-alive, alternating rounds, medians. */
export async function run(): Promise<BenchRow[]> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-ingress-'))
  const started: SpawnedProcess[] = []
  const pin = Bun.which('taskset')
  const start = (core: string, argv: string[]) => {
    const child = spawnProcess(pin === null ? argv : [pin, '-c', core, ...argv], { stdout: 'pipe' })
    started.push(child)
    return child
  }
  try {
    const upstream = start(OTHER_CORE, [process.execPath, join(import.meta.dirname, 'ingress-upstream.ts')])
    const bench: Bench = { dir, upstreamPort: Number(await firstText(upstream)), start }
    const proxies = (await Promise.all([ourIngress, haproxy, nginx].map((peer) => peer(bench)))).filter((proxy) => proxy !== undefined)
    const rows = await measureAll(proxies)
    print(rows)
    return rows
  } finally {
    for (const child of started) child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}

const ourIngress: Peer = async ({ dir, upstreamPort, start }) => {
  const port = freePort()
  const socketPath = join(dir, 'ingress.sock')
  const program = join(import.meta.dirname, '../server/ingress/processes/ingress-program.ts')
  const child = start(PROXY_CORE, [process.execPath, program, String(port), socketPath, join(dir, 'routes.json'), 'bench'])
  await firstText(child)
  const targets = [{ instanceId: 'i', host: '127.0.0.1', port: upstreamPort }]
  await createIngressClient(socketPath).publish({ version: 1, hosts: { [HOST]: { kind: 'proxy', serviceId: 's', name: 'app', targets } } })
  return { name: 'ingress', port, pid: child.pid }
}

const haproxy: Peer = async ({ dir, upstreamPort, start }) => {
  const program = Bun.which('haproxy') ?? Bun.which('/usr/sbin/haproxy')
  if (program === null) return undefined
  const port = freePort()
  const config = `global
  nbthread 1
defaults
  mode http
  option forwardfor
  http-reuse always
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend f
  bind 127.0.0.1:${port}
  default_backend b
backend b
  server s 127.0.0.1:${upstreamPort}
`
  writeFileSync(join(dir, 'haproxy.cfg'), config)
  const child = start(PROXY_CORE, [program, '-f', join(dir, 'haproxy.cfg')])
  await answering(port)
  return { name: 'haproxy', port, pid: child.pid }
}

const nginx: Peer = async ({ dir, upstreamPort, start }) => {
  const program = Bun.which('nginx') ?? Bun.which('/usr/sbin/nginx')
  if (program === null) return undefined
  const port = freePort()
  const config = `daemon off;
worker_processes 1;
pid ${join(dir, 'nginx.pid')};
error_log ${join(dir, 'nginx.log')};
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${join(dir, 'body')};
  proxy_temp_path ${join(dir, 'proxy')};
  fastcgi_temp_path ${join(dir, 'fastcgi')};
  uwsgi_temp_path ${join(dir, 'uwsgi')};
  scgi_temp_path ${join(dir, 'scgi')};
  upstream b { server 127.0.0.1:${upstreamPort}; keepalive 256; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://b;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
    }
  }
}
`
  writeFileSync(join(dir, 'nginx.conf'), config)
  const child = start(PROXY_CORE, [program, '-p', dir, '-e', join(dir, 'nginx.log'), '-c', join(dir, 'nginx.conf')])
  await answering(port)
  return { name: 'nginx', port, pid: child.pid }
}

async function measureAll(proxies: readonly Proxy[]): Promise<BenchRow[]> {
  const rounds: BenchRow[] = []
  for (const proxy of proxies) await measure(proxy, WARM_UP_SECONDS)
  for (let round = 0; round < ROUNDS; round++) for (const proxy of proxies) rounds.push(await measure(proxy, MEASURED_SECONDS))
  return proxies.map(({ name }) => {
    const own = rounds.filter((row) => row.name === name).toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)
    const median = own[Math.floor(own.length / 2)]
    if (median === undefined) throw new Error(`${name} was not measured`)
    return { ...median, failures: own.reduce((sum, row) => sum + row.failures, 0) }
  })
}

async function measure(proxy: Proxy, seconds: number): Promise<BenchRow> {
  const before = cpuMicrosOf(proxy.pid)
  const loaded = await load(proxy.port, seconds)
  return { name: proxy.name, ...loaded, cpuMicros: (cpuMicrosOf(proxy.pid) - before) / (loaded.requestsPerSecond * seconds) }
}

/** Time on the processor of a process and its children (proc(5): fields 14 and 15, in hundredths of a second). */
function cpuMicrosOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  const own = (Number(fields[11]) + Number(fields[12])) * 10_000
  return children.reduce((sum, child) => sum + cpuMicrosOf(child), own)
}

/** With wrk where it is installed, else with our own loader, which costs more than what it measures. */
async function load(port: number, seconds: number): Promise<Omit<BenchRow, 'name' | 'cpuMicros'>> {
  const wrk = Bun.which('wrk')
  if (wrk === null) {
    const request = `GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
    const result = await generateLoad({ host: '127.0.0.1', port, request, connections: CONNECTIONS, durationMs: seconds * 1000 })
    return { requestsPerSecond: result.requestsPerSecond, p99Ms: result.p99Ms, failures: result.failures }
  }
  const pin = Bun.which('taskset')
  const argv = [wrk, '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', '-H', `Host: ${HOST}`, `http://127.0.0.1:${port}/`]
  const { stdout } = await runProcess(pin === null ? argv : [pin, '-c', OTHER_CORE, ...argv])
  const failed = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout)?.slice(1) ?? []
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    p99Ms: millisecondsOf(/99%\s+([\d.]+)(us|ms|s)/.exec(stdout)),
    failures: broken.reduce((sum, count) => sum + Number(count), Number(failed)),
  }
}

function millisecondsOf(match: RegExpExecArray | null): number {
  const factors: Record<string, number> = { us: 0.001, ms: 1, s: 1000 }
  return Number(match?.[1]) * (factors[match?.[2] ?? ''] ?? Number.NaN)
}

function print(rows: readonly BenchRow[]): void {
  const own = rows[0]
  for (const { name, requestsPerSecond, p99Ms, cpuMicros, failures } of rows) {
    const ratio =
      own === undefined || name === own.name ? '' : `; ingress/${name} = ${(own.requestsPerSecond / requestsPerSecond).toFixed(2)}`
    console.log(
      `${name.padEnd(8)} ${Math.round(requestsPerSecond)}/s, p99 ${p99Ms.toFixed(2)} ms, CPU ${cpuMicros.toFixed(1)} µs a request, ${failures} failed${ratio}`,
    )
  }
}

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  listener.stop(true)
  return listener.port
}

async function answering(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
    if (answer?.ok) return
    await Bun.sleep(25)
  }
  throw new Error(`The proxy at port ${port} does not answer`)
}

async function firstText(child: SpawnedProcess): Promise<string> {
  const part = await child.stdout?.getReader().read()
  if (part?.value === undefined) throw new Error('A process of the benchmark ended before it was ready')
  return new TextDecoder().decode(part.value)
}

if (import.meta.main) {
  await run()
  process.exit(0)
}
