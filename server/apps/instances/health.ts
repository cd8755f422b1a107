import { type ServiceType, traitsOf } from '../../../shared/service-type.ts'
import type { Dial } from '../../platform/network/dial.ts'
import { type Clock, pause } from '../../platform/work/clock.ts'

export interface HealthCheck {
  clock: Clock
  dial: Dial
  type: ServiceType
  address: string
  port: number
  /** Path that must answer 2xx or 3xx twice in a row; empty: accepting a connection is enough. */
  path: string
  host: string
  /** Whether the instance itself listens at the port; absent where the address is its alone. */
  listens?(): Promise<boolean>
  lastStatus?: number
  refused?(): Promise<void>
}

/** The first checks come fast, since many apps are up within a moment; they become rarer until there is one every 250 ms. */
const FIRST_INTERVAL_MS = 4
const INTERVAL_GROWTH = 1.2
const CHECK_INTERVAL_MS = 250
const TRY_TIMEOUT_MS = 5000
const CHECKS_IN_A_ROW = 2
/** A worker answers nobody: it is healthy when it has lived this long. */
export const WORKER_SETTLE_MS = 1000

export async function waitUntilHealthy(check: HealthCheck, signal: AbortSignal): Promise<void> {
  if (!traitsOf(check.type).listens) return await pause(check.clock, WORKER_SETTLE_MS, signal)
  await repeatUntil(() => acceptsConnection(check), { clock: check.clock, signal, inARow: 1 })
  if (check.path !== '') await repeatUntil(() => answersWell(check, signal), { clock: check.clock, signal, inARow: CHECKS_IN_A_ROW })
}

interface Repeat {
  clock: Clock
  signal: AbortSignal
  inARow: number
}

async function repeatUntil(isTrue: () => Promise<boolean>, { clock, signal, inARow }: Repeat): Promise<void> {
  let passed = 0
  for (let interval = FIRST_INTERVAL_MS; ; interval = Math.min(interval * INTERVAL_GROWTH, CHECK_INTERVAL_MS)) {
    passed = (await isTrue()) ? passed + 1 : 0
    if (passed >= inARow) return
    await pause(clock, passed > 0 ? FIRST_INTERVAL_MS : interval, signal)
  }
}

async function acceptsConnection({ address, port, listens, dial, refused }: HealthCheck): Promise<boolean> {
  try {
    const connection = await dial({ hostname: address, port }, { data() {}, closed() {} })
    connection.cut()
    return listens === undefined || (await listens())
  } catch {
    await refused?.()
    return false
  }
}

/** One GET spoken by hand: `fetch` would go through a proxy that our own environment names, even to this machine. */
async function answersWell(check: HealthCheck, signal: AbortSignal): Promise<boolean> {
  const { address, port, path, host, clock, dial } = check
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  let head = ''
  const data = (bytes: Uint8Array) => {
    head += Buffer.from(bytes).toString('latin1').slice(0, STATUS_LINE_CHARS)
    if (head.length >= STATUS_LINE_CHARS) end()
  }
  const cancelTimeout = clock.after(TRY_TIMEOUT_MS, end)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: cpd-health-check\r\nConnection: close\r\n\r\n`
  const dialed = dial({ hostname: address, port }, { data, closed: end })
  dialed.then((connection) => connection.write(request)).catch(end)
  await over
  cancelTimeout()
  signal.removeEventListener('abort', end)
  dialed.then((connection) => connection.cut()).catch(end)
  check.lastStatus = statusOf(head)
  return check.lastStatus >= 200 && check.lastStatus < 400
}

const STATUS_LINE_CHARS = 'HTTP/1.1 200'.length

const statusOf = (head: string): number => Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0)
