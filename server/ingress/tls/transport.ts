import type { Connection } from '../exchange/client-context.ts'
import type { ReportedCount } from '../limits/reported-count.ts'
import { descriptorOf, type OpenListener, orUnavailable, type Reception, type Transport } from '../serve/transport.ts'
import { type KeyPair, listenPlain, listenTls } from './bun-tls.ts'
import type { Certificates } from './certificates.ts'
import { duplicateDescriptor } from './duplicate-descriptor.ts'
import { tlsEvents } from './handshakes.ts'
import { inspectionEvents } from './inspection.ts'
import { PROTOCOLS } from './protocols.ts'

export interface TlsTransport {
  transport: Transport
  refresh(): void
}

export interface TlsTransportParts {
  certificates: Certificates
  failures: ReportedCount
  log: (line: string) => void
}

interface Manner {
  fallback: KeyPair | undefined
  isInspecting: boolean
}

type Where = { fd: number } | { hostname: string; port: number }

/**
 * HTTP/1.1 and HTTP/2 inside of TLS. Certificates change behind the listener. When the fallback changes, or challenges begin or end,
 * another listener takes its place on the same socket, so that no client is lost.
 */
export function createTlsTransport({ certificates, failures, log }: TlsTransportParts): TlsTransport {
  let reopen: (() => void) | undefined
  const transport: Transport = ({ host, port, inherited }, reception) => {
    const listen = (where: Where, manner: Manner) => listenSo(where, manner, { reception, failures, certificates })
    let manner = mannerFor(certificates)
    const first = orUnavailable({ host, port }, '--ingress-tls', () =>
      listen(inherited === undefined ? { hostname: host, port } : { fd: inherited }, manner),
    )
    let listener: OpenListener = {
      port: inherited === undefined ? first.port : port,
      descriptor: inherited ?? descriptorOf(first),
      stop: () => first.stop(),
    }
    reopen = () => {
      const wanted = mannerFor(certificates)
      if (isSameManner(manner, wanted)) return
      const descriptor = duplicateDescriptor(listener.descriptor)
      const next = listen({ fd: descriptor }, wanted)
      listener.stop()
      listener = { port: listener.port, descriptor, stop: () => next.stop() }
      manner = wanted
    }
    return {
      port: listener.port,
      get descriptor() {
        return listener.descriptor
      },
      stop() {
        reopen = undefined
        listener.stop()
      },
    }
  }
  return {
    transport,
    refresh() {
      try {
        reopen?.()
      } catch (error) {
        log(`The TLS listener goes on with what it had: ${error instanceof Error ? error.message : error}`)
      }
    },
  }
}

const mannerFor = (certificates: Certificates): Manner => ({
  fallback: certificates.fallbackPair,
  isInspecting: certificates.hasTlsChallenges,
})

const isSameManner = (one: Manner, other: Manner): boolean =>
  one.isInspecting === other.isInspecting &&
  one.fallback?.certificate === other.fallback?.certificate &&
  one.fallback?.key === other.fallback?.key

interface ListenParts {
  reception: Reception
  failures: ReportedCount
  certificates: Certificates
}

function listenSo(place: Where, manner: Manner, { certificates, ...parts }: ListenParts): Bun.TCPSocketListener<Connection> {
  if (manner.isInspecting) return listenPlain({ place, handlers: inspectionEvents(parts, certificates) })
  return listenTls({ place, keyPair: manner.fallback, protocols: PROTOCOLS, handlers: tlsEvents(parts, certificates) })
}
