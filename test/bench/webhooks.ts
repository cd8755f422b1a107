import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { signatureOf } from '../../server/apps/webhooks/secret.ts'
import { openDatabase } from '../../server/platform/db/open.ts'
import { pathsOf } from '../../server/platform/paths.ts'
import type { Service } from '../../shared/service.ts'
import { pathOf, type RunningServer, startServer } from './running-server.ts'

const WEBHOOKS = 1000
const EVENTS = 10_000
const SERVICES = 100
const SETTLE_MS = 5000
const MEASURED_MS = 20_000
const PEER_CONCURRENCY = 32
const ASKED_PER_SECOND = 200
const GOAL_PER_SECOND = 500
const GOAL_GROWTH_MB = 30
const GOAL_P99_MS = 20

/** A thousand webhooks with ten thousand events before each: how fast they leave, what that takes of memory, and how the API answers beside it. */
export async function run(): Promise<void> {
  const receiver = Bun.spawn([process.execPath, join(import.meta.dirname, 'webhook-receiver.ts')], { stdout: 'pipe' })
  const url = `http://127.0.0.1:${(
    await receiver.stdout
      .getReader()
      .read()
      .then(({ value }) => new TextDecoder().decode(value))
  ).trim()}/`
  let server = await startServer({ CP_OUTGOING_ALLOW: '127.0.0.0/8', CP_WRITE_LIMIT: '0' })
  try {
    const servicePath = await makeWebhooks(server, url)
    server = await server.restart()
    await Bun.sleep(SETTLE_MS)
    const idle = await answersDuring(server, servicePath, SETTLE_MS)
    const beforeMb = await rssMb(server.pid)
    const { data } = server
    server = await server.restart(() => queueEvents(data))
    await Bun.sleep(SETTLE_MS)
    const began = await countOf(url)
    const cpuBefore = await cpuSeconds(server.pid)
    const busy = await answersDuring(server, servicePath, MEASURED_MS)
    const perSecond = ((await countOf(url)) - began) / (MEASURED_MS / 1000)
    const cpu = ((await cpuSeconds(server.pid)) - cpuBefore) / (MEASURED_MS / 1000)
    const growthMb = (await rssMb(server.pid)) - beforeMb
    await server.call(`/v1/webhooks/${'nobody'}`).catch(() => undefined)
    const peer = await peerPerSecond(url)
    console.log(
      `deliveries with ${WEBHOOKS} webhooks x ${EVENTS} events queued: ${perSecond.toFixed(0)}/s with ${cpu.toFixed(2)} cores ` +
        `(goal ${GOAL_PER_SECOND}: ${perSecond >= GOAL_PER_SECOND ? 'met' : 'MISSED'}), ratio to a loop of signed fetches, ${PEER_CONCURRENCY} at a time, that keeps nothing ${(perSecond / peer).toFixed(2)}`,
    )
    console.log(
      `memory grows by ${growthMb.toFixed(1)} MB from ${beforeMb.toFixed(0)} (goal ${GOAL_GROWTH_MB}: ${growthMb < GOAL_GROWTH_MB ? 'met' : 'MISSED'})`,
    )
    console.log(
      `GET of a service beside it, ${ASKED_PER_SECOND}/s: p50 ${busy.p50.toFixed(1)}, p99 ${busy.p99.toFixed(1)} ms ` +
        `(goal ${GOAL_P99_MS}: ${busy.p99 < GOAL_P99_MS ? 'met' : 'MISSED'}); at rest p99 ${idle.p99.toFixed(1)} ms`,
    )
  } finally {
    await server.stop()
    receiver.kill()
  }
}

/** Makes the webhooks, and a service to ask for. Returns its path. */
async function makeWebhooks(server: RunningServer, url: string): Promise<string> {
  for (let index = 0; index < WEBHOOKS; index++)
    await server.call('/v1/webhooks', { method: 'POST', body: JSON.stringify({ name: `hook ${index}`, url: `${url}${index}` }) })
  const body = JSON.stringify({ type: 'web_service', name: 'asked for' })
  const { service } = await server.call<{ service: Service }>(pathOf('createService'), { method: 'POST', body })
  return pathOf('getService', { serviceId: service.id })
}

function queueEvents(data: string): void {
  const db = openDatabase(pathsOf(data, '').controlDb)
  const numbers = 'WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $events)'
  db.query(
    `${numbers} INSERT INTO events (id, workspace_id, service_id, service_name, type, details, created_at)
     SELECT printf('evt-%020d', n), (SELECT workspace_id FROM webhooks LIMIT 1), printf('srv-%020d', n % $services), 'web-' || (n % $services),
       'deploy_ended', '{"status":"live"}', $now FROM numbers`,
  ).run({ events: EVENTS, services: SERVICES, now: Date.now() })
  db.close()
}

/** Asks at a steady pace, whether answers have come or not. */
async function answersDuring(server: RunningServer, path: string, ms: number): Promise<{ p50: number; p99: number }> {
  const times: number[] = []
  const asked: Promise<void>[] = []
  const began = performance.now()
  for (let nth = 0; performance.now() - began < ms; nth++) {
    const dueAt = began + (nth * 1000) / ASKED_PER_SECOND
    await Bun.sleep(Math.max(0, dueAt - performance.now()))
    asked.push(server.call(path).then(() => void times.push(performance.now() - dueAt)))
  }
  await Promise.all(asked)
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

const countOf = async (url: string): Promise<number> => Number(await (await fetch(url)).text())

async function rssMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024
}

const TICKS_PER_SECOND = 100

async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** What sends as fast as it can without a queue, retries or a record. */
async function peerPerSecond(url: string): Promise<number> {
  const secret = `whsec_${btoa('a secret that is long enough for it')}`
  const until = performance.now() + MEASURED_MS / 4
  let count = 0
  const send = async () => {
    for (; performance.now() < until; count++) {
      const id = `evt-${count}`
      const timestamp = Math.floor(Date.now() / 1000)
      const body = JSON.stringify({ type: 'deploy_ended', timestamp: new Date().toISOString(), data: { id } })
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf([secret], { id, timestamp, body }),
      }
      await (await fetch(url, { method: 'POST', headers, body })).text()
    }
  }
  await Promise.all(Array.from({ length: PEER_CONCURRENCY }, send))
  return count / (MEASURED_MS / 4 / 1000)
}

if (import.meta.main) {
  await run()
  process.exit(0)
}
