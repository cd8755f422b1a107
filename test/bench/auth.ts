import { join } from 'node:path'
import { type ServerOfBench, startServerOfBench } from './api.ts'
import { generateLoad, type LoadResult } from './http-load.ts'

const GOAL_MICROSECONDS = 25
const GOAL_P99_MS = 20
const LOGINS_PER_SECOND = 50
const MEASURED_MS = 6000
/** A few clients look around: the question is how long they wait, not how many there could be. */
const CONNECTIONS = 4

/** What authentication costs, and how long others wait while passwords are hashed. */
export async function run(): Promise<void> {
  await reportCost()
  await reportFlood()
}

async function reportCost(): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, 'auth-cost.ts')], { stdout: 'pipe', stderr: 'inherit' })
  const costs = JSON.parse(await new Response(child.stdout).text()) as Record<string, number>
  const { bare = Number.NaN, ...others } = costs
  console.log(`a request without authentication  ${bare.toFixed(1)} µs of processor time`)
  for (const [name, cost] of Object.entries(others))
    console.log(
      `${`the same with a ${name}`.padEnd(32)}  ${cost.toFixed(1)} µs = ${(cost / bare).toFixed(2)} x: ${(cost - bare).toFixed(1)} µs more`,
    )
  const isMet = Object.values(others).every((cost) => cost - bare < GOAL_MICROSECONDS)
  console.log(`goal under ${GOAL_MICROSECONDS} µs more: ${isMet ? 'met' : 'MISSED'}`)
}

async function reportFlood(): Promise<void> {
  const server = await startServerOfBench()
  try {
    const quiet = await measure(server)
    const flood = startLogins(server)
    const flooded = await measure(server)
    const statuses = await flood.stop()
    const line = ({ p50Ms, p99Ms, requestsPerSecond }: LoadResult) =>
      `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${Math.round(requestsPerSecond)}/s`
    console.log(`GET of a service, quiet           ${line(quiet)}`)
    console.log(
      `GET during ${LOGINS_PER_SECOND} logins/s           ${line(flooded)}; p99 = ${(flooded.p99Ms / quiet.p99Ms).toFixed(1)} x quiet`,
    )
    console.log(`logins: ${[...statuses].map(([status, count]) => `${count} with ${status}`).join(', ')}; GETs failed: ${flooded.failures}`)
    console.log(`goal p99 under ${GOAL_P99_MS} ms: ${flooded.p99Ms < GOAL_P99_MS && flooded.failures === 0 ? 'met' : 'MISSED'}`)
  } finally {
    await server.stop()
  }
}

const measure = ({ port, path, token }: ServerOfBench): Promise<LoadResult> =>
  generateLoad({
    host: '127.0.0.1',
    port,
    request: `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    connections: CONNECTIONS,
    durationMs: MEASURED_MS,
  })

/** Sends logins at their rate, whatever becomes of those before. */
function startLogins({ port }: ServerOfBench): { stop(): Promise<Map<number, number>> } {
  const statuses = new Map<number, number>()
  const waiting = new Set<Promise<void>>()
  let count = 0
  const timer = setInterval(() => {
    const email = count++ % 2 === 0 ? 'admin@localhost' : `nobody${count}@example.com`
    const body = JSON.stringify({ email, password: 'not the password' })
    const login = fetch(`http://127.0.0.1:${port}/v1/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      .then(async (response) => {
        await response.text()
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      })
      .catch(() => {})
      .finally(() => waiting.delete(login))
    waiting.add(login)
  }, 1000 / LOGINS_PER_SECOND)
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(waiting)
      return statuses
    },
  }
}

if (import.meta.main) await run()
