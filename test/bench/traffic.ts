/**
 * What counting and logging cost a request: as calls of their own, and as processor time of the whole ingress with them against
 * without them, in alternating rounds of the same run. Without means an ingress whose hook for ended requests does nothing.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIngressClient } from '../../server/ingress/control/client.ts'
import type { ClientSide } from '../../server/ingress/exchange/exchange.ts'
import { RequestNote } from '../../server/ingress/exchange/request-note.ts'
import { parseRequestHead } from '../../server/ingress/message/request-head.ts'
import { createTraffic } from '../../server/ingress/traffic/traffic.ts'
import { type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { requestLine } from '../../server/telemetry/traffic/request-line.ts'
import { generateLoad } from './http-load.ts'

const CALLS = 300_000
const CALL_ROUNDS = 5
const INSTANCES = 50
const LINES = 100_000
const CONNECTIONS = 64
const ROUNDS = 5
const WARM_UP_SECONDS = 4
const MEASURED_SECONDS = 3
const HOST = 'app.bench'
const INGRESS_CORE = '0'
const OTHER_CORE = '1'

const browserHead = `GET /shop/items/4711?colour=green&size=42 HTTP/1.1\r
Host: ${HOST}\r
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36\r
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r
Accept-Language: en-GB,en;q=0.5\r
Accept-Encoding: gzip, deflate, br\r
Referer: http://${HOST}/shop/items\r
Cookie: session=0123456789abcdef0123456789abcdef\r
\r
`

export async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-traffic-'))
  try {
    await calls(dir)
    parsing()
    await whole(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The hook alone, for requests as a browser sends them, over some instances. */
async function calls(dir: string): Promise<void> {
  const head = parseRequestHead(browserHead, { maxFields: 100, maxTargetBytes: 1000 })
  const client = { address: '192.0.2.1', isTrusted: false, protocol: 'HTTP/1.1' } as ClientSide
  const notes = Array.from({ length: INSTANCES }, (_, index) => {
    const note = new RequestNote()
    note.begin(head, crypto.randomUUID())
    return Object.assign(note, { serviceId: `srv-${index % 10}`, instanceId: `srv-${index % 10}-${index}`, status: 200, sentBytes: 1024 })
  })
  const served = { routes: () => new Map(), drainStateOf: () => ({ inFlight: 0, tunnels: 0 }), passedOn: () => [] }
  const isTrusted = () => false
  const log = (line: string) => console.log(line)
  const measure = async (accessLogDir: string | undefined): Promise<number> => {
    const traffic = createTraffic({ served, lastCountsDir: undefined, accessLogDir, isTrusted, log })
    let tookMs = 0
    for (let done = 0; done < CALLS; ) {
      const startedAt = performance.now()
      // No more at once than find room: a real ingress has its kernel's time in between.
      for (let count = 0; count < 2000; count++, done++) traffic.finished(notes[done % INSTANCES] ?? new RequestNote(), client)
      tookMs += performance.now() - startedAt
      await Bun.sleep(1)
    }
    await traffic.close()
    return (tookMs * 1000) / CALLS
  }
  const counted: number[] = []
  const logged: number[] = []
  for (let round = 0; round < CALL_ROUNDS; round++) {
    counted.push(await measure(undefined))
    logged.push(await measure(join(dir, `calls-${round}`)))
  }
  console.log(
    `traffic: counting ${median(counted).toFixed(2)} µs a request; with its line formatted and put in the batch ${median(logged).toFixed(2)} µs`,
  )
}

/** The control plane's side of a line, before it is stored. */
function parsing(): void {
  const record = `1700000000000\tsrv-a\tsrv-a-00001\t200\t1.5\t0\t1024\tHTTP/1.1\t192.0.2.1\t${crypto.randomUUID()}\tGET\t${HOST}\t/shop?x=y\tMozilla/5.0 (X11; Linux x86_64)\t\t.`
  const took: number[] = []
  for (let round = 0; round < CALL_ROUNDS; round++) {
    const startedAt = performance.now()
    for (let count = 0; count < LINES; count++) requestLine(record)
    took.push(((performance.now() - startedAt) * 1000) / LINES)
  }
  console.log(`traffic: the control plane reads a line in ${median(took).toFixed(2)} µs`)
}

interface Ingress {
  port: number
  pid: number
}

async function whole(dir: string): Promise<void> {
  const started: SpawnedProcess[] = []
  const start = (core: string, argv: string[]): SpawnedProcess => {
    const pin = Bun.which('taskset')
    const child = spawnProcess(pin === null ? argv : [pin, '-c', core, ...argv], { stdout: 'pipe' })
    started.push(child)
    return child
  }
  try {
    const upstreamPort = Number(
      await firstText(start(OTHER_CORE, [process.execPath, join(import.meta.dirname, 'ingress/upstream-child.ts')])),
    )
    const startIngress = async (kind: 'with' | 'without'): Promise<Ingress> => {
      const socketPath = join(dir, `${kind}.sock`)
      const program = join(import.meta.dirname, 'traffic-ingress.ts')
      const child = start(INGRESS_CORE, [process.execPath, program, kind, socketPath, join(dir, `${kind}.json`), join(dir, 'access')])
      const port = Number(await firstText(child))
      const targets = [{ instanceId: 'i', host: '127.0.0.1', port: upstreamPort }]
      await createIngressClient(socketPath).publish({
        version: 1,
        hosts: { [HOST]: { kind: 'proxy', serviceId: 's', name: 'app', targets } },
      })
      return { port, pid: child.pid }
    }
    const [on, off] = [await startIngress('with'), await startIngress('without')]
    for (const ingress of [on, off]) await measure(ingress, WARM_UP_SECONDS)
    const costs: [number, number][] = []
    for (let round = 0; round < ROUNDS; round++) costs.push([await measure(on, MEASURED_SECONDS), await measure(off, MEASURED_SECONDS)])
    const [withAll, without] = [median(costs.map(([cost]) => cost)), median(costs.map(([, cost]) => cost))]
    console.log(
      `traffic: CPU of the ingress ${withAll.toFixed(1)} µs a request with counters and access log, ${without.toFixed(1)} µs without; on/off = ${median(costs.map(([one, other]) => one / other)).toFixed(3)}; ${readdirSync(join(dir, 'access')).length} files written`,
    )
  } finally {
    for (const child of started) child.kill('SIGKILL')
    await Promise.all(started.map((child) => child.exited))
  }
}

/** Processor time of all its threads for one request, in microseconds. */
async function measure({ port, pid }: Ingress, seconds: number): Promise<number> {
  const before = await cpuMicrosOf(pid)
  const load = { host: '127.0.0.1', port, request: browserHead, connections: CONNECTIONS, durationMs: seconds * 1000 }
  const { requestsPerSecond, failures } = await generateLoad(load)
  if (failures > 0) throw new Error(`${failures} requests failed`)
  return ((await cpuMicrosOf(pid)) - before) / (requestsPerSecond * seconds)
}

/** In nanoseconds on the processor by the scheduler's own account, over the threads (proc(5): schedstat). */
async function cpuMicrosOf(pid: number): Promise<number> {
  const stats = await Promise.all(
    readdirSync(`/proc/${pid}/task`).map((thread) => Bun.file(`/proc/${pid}/task/${thread}/schedstat`).text()),
  )
  return stats.reduce((sum, stat) => sum + Number(stat.split(' ')[0]) / 1000, 0)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
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
