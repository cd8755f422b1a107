import { isLoopbackHost } from '../network/address.ts'
import { describeError, type ServerLog } from '../server-log.ts'
import { type OwnSockets, openOwnSockets } from './own-sockets.ts'
import { type ConnectionLimits, connectionsToEnd, type KnownConnection, limitsFor } from './plan.ts'

export interface ConnectionGuard {
  check(): void
  stop(): void
}

export interface GuardOptions {
  port: number
  perAddress: number
  isTrustedProxy(address: string): boolean
  log: Pick<ServerLog, 'error'>
  limits?: Partial<ConnectionLimits>
}

const CHECK_MS = 250
const SCARCE_LOG_MS = 60_000
/** A client that has sent less than a head and the beginning of a body, and was answered nothing, is slower than 1 KiB a second. */
const HALF_OPEN_BYTES = 64 * 1024

export function guardConnections(options: GuardOptions): ConnectionGuard {
  const sockets = openedSockets(options)
  if (sockets === undefined) return { check() {}, stop() {} }
  const { port, perAddress, isTrustedProxy, log } = options
  const { limits: usual, descriptorRoom } = limitsFor(sockets.limit, perAddress)
  const limits = { ...usual, ...options.limits }
  const isTrusted = (address: string) => isLoopbackHost(address) || isTrustedProxy(address)
  let known: Known = new Map()
  let loggedAt = Number.NEGATIVE_INFINITY

  const check = () => {
    const now = performance.now()
    const accepted = sockets.accepted(port)
    known = updated(known, accepted.sockets, now)
    noteProgress(known, sockets, now - limits.halfOpenMs)
    const connections = [...known.values()].sort((one, other) => one.since - other.since)
    const ended = connectionsToEnd(connections, { now, limits, missing: accepted.descriptors - descriptorRoom, isTrusted })
    for (const { descriptor } of ended) sockets.end(descriptor)
    if (ended.length === 0 || now - loggedAt < SCARCE_LOG_MS) return
    loggedAt = now
    log.error('connections ended', {
      count: ended.length,
      first: ended[0]?.address,
      open: connections.length,
      hint: 'CP_API_CONNECTIONS_PER_ADDRESS sets how many one address may have',
    })
  }
  const timer = setInterval(check, CHECK_MS)
  timer.unref()
  return { check, stop: () => clearInterval(timer) }
}

function openedSockets({ log }: GuardOptions): OwnSockets | undefined {
  try {
    return openOwnSockets()
  } catch (error) {
    log.error('connections to the API are not bounded', describeError(error))
    return undefined
  }
}

type Known = Map<string, KnownConnection>

function updated(known: Known, sockets: ReturnType<OwnSockets['accepted']>['sockets'], now: number): Known {
  return new Map(
    sockets.map(({ descriptor, address, port }) => {
      const key = `${address} ${port}`
      const before = known.get(key)
      return [key, before?.descriptor === descriptor ? before : { descriptor, address, since: now, isHalfOpen: true }]
    }),
  )
}

function noteProgress(known: Known, sockets: OwnSockets, bornBefore: number): void {
  for (const connection of known.values()) {
    if (!connection.isHalfOpen || connection.since > bornBefore) continue
    const { received, isAnswered } = sockets.progressOf(connection.descriptor)
    if (isAnswered || received >= HALF_OPEN_BYTES) connection.isHalfOpen = false
  }
}
