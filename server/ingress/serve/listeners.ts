import { messageOf } from '../../../shared/error.ts'
import { createConnectionLimits } from '../limits/connection-limits.ts'
import { createReportedCount } from '../limits/reported-count.ts'
import type { Inheritance } from '../sockets/inherited.ts'
import { keepAlive } from '../sockets/keep-alive.ts'
import type { DatabaseKind } from '../tables/database-route.ts'
import { type ClientListener, type ListenOptions, listenForClients } from './client-listener.ts'
import { plainTransport, type Transport } from './transport.ts'

/** A port of databases. One that cannot be opened keeps nothing else from being served. */
export interface Door {
  name: DatabaseKind
  listen: { host: string; port: number }
  transport: Transport
}

export interface Listeners {
  http: ClientListener
  tls: ClientListener | undefined
  doors: ReadonlyMap<DatabaseKind, ClientListener>
  all: readonly ClientListener[]
  abandon(): Promise<void>
  stop(): void
}

export interface ListenersOptions {
  listen: { host: string; port: number }
  listenTls: { host: string; port: number } | undefined
  inheritance: Inheritance
  transport: Transport
  doors: readonly Door[]
  context: ListenOptions['context']
  log: (line: string) => void
}

const DOOR_RETRY_MS = 5_000

export function openListeners({ listen, listenTls, inheritance, transport, doors, context, log }: ListenersOptions): Listeners {
  const turnedAway = createReportedCount((count, address) =>
    log(
      `${count} connections were closed for lack of room, the first one from ${address}: CP_INGRESS_CONNECTIONS_PER_ADDRESS sets how many one address may have`,
    ),
  )
  const shared = { connectionLimits: createConnectionLimits(context), turnedAway, context, log }
  const open = (address: { host: string; port: number }, how: Transport, own: Partial<ListenOptions> = {}) => {
    const inherited = inheritance.take(address)
    const port = inherited?.port ?? address.port
    return listenForClients({ ...shared, ...own, host: address.host, port, inherited: inherited?.descriptor, transport: how })
  }
  const all: ClientListener[] = []
  const opened = new Map<DatabaseKind, ClientListener>()
  const retries = new Set<ReturnType<typeof setTimeout>>()
  // Clients of databases take no room from those of services.
  const ofDoors = { connectionLimits: createConnectionLimits(context), isPatient: true }
  const openDoor = (door: Door) => {
    try {
      const listener = open(door.listen, door.transport, ofDoors)
      keepAlive(listener.descriptor, context.limits.vanishedMs)
      opened.set(door.name, listener)
      all.push(listener)
    } catch (error) {
      log(`${messageOf(error)} It is tried again.`)
      const retry = setTimeout(() => {
        retries.delete(retry)
        openDoor(door)
      }, DOOR_RETRY_MS)
      retries.add(retry)
    }
  }
  const stop = () => {
    for (const retry of retries) clearTimeout(retry)
    turnedAway.stop()
  }
  const abandon = async () => {
    stop()
    await Promise.all(all.map((listener) => listener.end({ graceMs: 0, lingerMs: 0, giveUp: () => {} })))
  }
  try {
    const http = open(listen, plainTransport)
    all.push(http)
    const tls = listenTls && open(listenTls, transport)
    if (tls !== undefined) all.push(tls)
    for (const door of doors) openDoor(door)
    inheritance.refuseRest()
    return { http, tls, doors: opened, all, abandon, stop }
  } catch (error) {
    void abandon()
    throw error
  }
}
