import { setTimeout as sleep } from 'node:timers/promises'
import { type ServiceType, traitsOf } from '../../../shared/service-type.ts'
import { isListenedOnBy } from './listener.ts'

export interface HealthCheck {
  type: ServiceType
  address: string
  port: number
  /** Path that must answer 2xx or 3xx twice in a row; empty: accepting a connection is enough. */
  path: string
  host: string
  /** Who must be listening; undefined where the address is the instance's alone, and where all services run as one user. */
  uid: number | undefined
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
  if (!traitsOf(check.type).listens) return await sleep(WORKER_SETTLE_MS, undefined, { signal })
  await repeatUntil(() => acceptsConnection(check), { signal, inARow: 1 })
  if (check.path !== '') await repeatUntil(() => answersWell(check, signal), { signal, inARow: CHECKS_IN_A_ROW })
}

async function repeatUntil(isTrue: () => Promise<boolean>, { signal, inARow }: { signal: AbortSignal; inARow: number }): Promise<void> {
  let passed = 0
  for (let interval = FIRST_INTERVAL_MS; ; interval = Math.min(interval * INTERVAL_GROWTH, CHECK_INTERVAL_MS)) {
    passed = (await isTrue()) ? passed + 1 : 0
    if (passed >= inARow) return
    await sleep(passed > 0 ? FIRST_INTERVAL_MS : interval, undefined, { signal })
  }
}

async function acceptsConnection({ address, port, uid, refused }: HealthCheck): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: address, port, socket: { data() {} } })
    socket.terminate()
    return uid === undefined || isListenedOnBy(port, uid)
  } catch {
    await refused?.()
    return false
  }
}

/** One GET spoken by hand: `fetch` would go through a proxy that our own environment names, even to this machine. */
async function answersWell(check: HealthCheck, signal: AbortSignal): Promise<boolean> {
  const { address, port, path, host } = check
  const status = await new Promise<number>((resolve) => {
    const giveUp = AbortSignal.any([signal, AbortSignal.timeout(TRY_TIMEOUT_MS)])
    let head = ''
    Bun.connect({
      hostname: address,
      port,
      socket: {
        open(socket) {
          if (giveUp.aborted) return socket.terminate()
          giveUp.addEventListener('abort', () => socket.terminate(), { once: true })
          socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: cpd-health-check\r\nConnection: close\r\n\r\n`)
        },
        data(socket, bytes) {
          head += bytes.toString('latin1').slice(0, STATUS_LINE_CHARS)
          if (head.length >= STATUS_LINE_CHARS) socket.terminate()
        },
        close: () => resolve(statusOf(head)),
        error: () => resolve(0),
      },
    }).catch(() => resolve(0))
  })
  check.lastStatus = status
  return status >= 200 && status < 400
}

const STATUS_LINE_CHARS = 'HTTP/1.1 200'.length

const statusOf = (head: string): number => Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0)
