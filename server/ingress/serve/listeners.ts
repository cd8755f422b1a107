import { createConnectionLimits } from '../limits/connection-limits.ts'
import { createReportedCount } from '../limits/reported-count.ts'
import type { Inheritance } from '../sockets/inherited.ts'
import { type ClientListener, type ListenOptions, listenForClients } from './client-listener.ts'
import { plainTransport, type Transport } from './transport.ts'

export interface Listeners {
  http: ClientListener
  tls: ClientListener | undefined
  all: readonly ClientListener[]
  abandon(): Promise<void>
  stop(): void
}

export interface ListenersOptions {
  listen: { host: string; port: number }
  listenTls: { host: string; port: number } | undefined
  inheritance: Inheritance
  transport: Transport
  context: ListenOptions['context']
  log: (line: string) => void
}

export function openListeners({ listen, listenTls, inheritance, transport, context, log }: ListenersOptions): Listeners {
  const turnedAway = createReportedCount((count, address) =>
    log(
      `${count} connections were closed for lack of room, the first one from ${address}: CP_INGRESS_CONNECTIONS_PER_ADDRESS sets how many one address may have`,
    ),
  )
  const shared = { connectionLimits: createConnectionLimits(context), turnedAway, context, log }
  const open = (address: { host: string; port: number }, how: Transport) => {
    const inherited = inheritance.take(address)
    const port = inherited?.port ?? address.port
    return listenForClients({ ...shared, host: address.host, port, inherited: inherited?.descriptor, transport: how })
  }
  const all: ClientListener[] = []
  const abandon = async () => {
    turnedAway.stop()
    await Promise.all(all.map((listener) => listener.end({ graceMs: 0, lingerMs: 0, giveUp: () => {} })))
  }
  try {
    const http = open(listen, plainTransport)
    all.push(http)
    const tls = listenTls && open(listenTls, transport)
    if (tls !== undefined) all.push(tls)
    inheritance.refuseRest()
    return { http, tls, all, abandon, stop: () => turnedAway.stop() }
  } catch (error) {
    void abandon()
    throw error
  }
}
