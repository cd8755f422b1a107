import { readFileSync } from 'node:fs'
import { createIngressClient } from '../../server/ingress/control/client.ts'
import { connectRaw, type RawConnection } from '../server/ingress/world.ts'
import { makeDataDir } from '../support/data-dir.ts'
import { connectHttp } from '../support/http-connection.ts'
import { startTestIngress } from '../support/ingress.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { makeSleeper, type Sleeper } from '../support/sleeper.ts'
import { median } from './running-server.ts'

const ROUNDS = 7
const GOAL_FROZEN_MS = 50
const ASLEEP_MS = 5000
const PARKED = 1000
const BODY_BYTES = 1024 * 1024
const TIMEOUT_MS = 60_000

/** The first request of a service that sleeps beside one of a service that is awake, what a frozen one costs, and what waiting requests do. */
export async function run(): Promise<void> {
  const platform = await startPlatform()
  try {
    await benchFrozen(platform)
    await benchStopped(platform)
  } finally {
    await platform.close()
  }
  await benchHeld()
}

async function benchFrozen(platform: Platform): Promise<void> {
  const sleeper = await makeSleeper(platform, { name: 'frozen', mode: 'freeze' })
  const [warm, first] = await firstRequests(platform, sleeper)
  const extra = first - warm
  console.log(`first request of a frozen service (median of ${ROUNDS}): ${first.toFixed(1)} ms, of a warm one ${warm.toFixed(1)} ms`)
  console.log(`  ${extra.toFixed(1)} ms more (goal ${GOAL_FROZEN_MS}: ${extra < GOAL_FROZEN_MS ? 'met' : 'MISSED'})`)
  await sleeper.sleeps()
  const [instance] = await sleeper.instances()
  const used = async () => (await platform.context.engine.usage(instance?.id ?? ''))?.cpuSeconds ?? Number.NaN
  const before = await used()
  await Bun.sleep(ASLEEP_MS)
  const spent = (await used()) - before
  console.log(`processor time of a frozen service in ${ASLEEP_MS / 1000} s: ${(spent * 1000).toFixed(3)} ms (goal 0)`)
}

async function benchStopped(platform: Platform): Promise<void> {
  const sleeper = await makeSleeper(platform, { name: 'stopped', mode: 'stop' })
  const [warm, first] = await firstRequests(platform, sleeper)
  const starts = startTimes(platform, sleeper.id)
  console.log(`first request of a stopped service (median of ${ROUNDS}): ${first.toFixed(1)} ms, of a warm one ${warm.toFixed(1)} ms`)
  console.log(`  its new instance was started, found healthy and said to serve ${median(starts).toFixed(1)} ms after it was woken`)
}

/** Medians of a warm and of a first request, in milliseconds. */
async function firstRequests(platform: Platform, sleeper: Sleeper): Promise<[warm: number, first: number]> {
  const warm: number[] = []
  const first: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await sleeper.sleeps()
    first.push(await timeRequest(platform, sleeper))
    warm.push(await timeRequest(platform, sleeper))
  }
  return [median(warm), median(first)]
}

/** On a connection of its own, which is open already. */
async function timeRequest(platform: Platform, { name }: Sleeper): Promise<number> {
  const connection = await connectHttp(Number(platform.ingress.address.split(':')[1]))
  const begun = performance.now()
  const { status } = await connection.get(`${name}.localhost`, '/', TIMEOUT_MS)
  const took = performance.now() - begun
  if (status !== 200) throw new Error(`Answered ${status}`)
  connection.close()
  return took
}

/** From each wake to the event that says that an instance serves, in milliseconds. */
function startTimes({ db }: Platform, serviceId: string): number[] {
  return db
    .query<{ ms: number }, [string]>(
      `SELECT e.created_at - (SELECT MAX(w.created_at) FROM events w WHERE w.service_id = e.service_id AND w.type = 'service_woke'
       AND w.created_at <= e.created_at) AS ms FROM events e WHERE e.service_id = ? AND e.type = 'server_available'`,
    )
    .all(serviceId)
    .flatMap(({ ms }) => (ms === null ? [] : [ms]))
}

async function benchHeld(): Promise<void> {
  const { paths, remove } = makeDataDir()
  const ingress = await startTestIngress(paths)
  const port = Number(ingress.address.split(':')[1])
  try {
    await createIngressClient(paths.ingressSocket).publish({
      version: 1,
      hosts: { 'a.test': { kind: 'asleep', serviceId: 'srv-a', name: 'a' } },
    })
    const idle = rssMb(ingress.pid)
    const gets = await park(port, 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    const parked = rssMb(ingress.pid)
    console.log(`memory of ${PARKED} requests that wait: ${(parked - idle).toFixed(1)} MiB, of an ingress of ${idle.toFixed(0)} MiB`)
    for (const connection of gets) connection.kill()
    await Bun.sleep(1000)
    const before = rssMb(ingress.pid)
    const body = 'x'.repeat(BODY_BYTES)
    const posts = await park(port, `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${BODY_BYTES}\r\n\r\n${body}`)
    console.log(`the same with bodies of ${BODY_BYTES / 1024 / 1024} MiB on their way: ${(rssMb(ingress.pid) - before).toFixed(1)} MiB`)
    for (const connection of posts) connection.kill()
  } finally {
    await ingress.close()
    remove()
  }
}

async function park(port: number, request: string): Promise<RawConnection[]> {
  const connections: RawConnection[] = []
  for (let index = 0; index < PARKED; index++) {
    const connection = await connectRaw(port)
    connection.send(request)
    connections.push(connection)
  }
  await Bun.sleep(2000)
  return connections
}

const rssMb = (pid: number): number => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

if (import.meta.main) await run()
