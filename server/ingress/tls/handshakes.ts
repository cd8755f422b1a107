import { writeSync } from 'node:fs'
import type { ClientSocket, Connection } from '../exchange/client-context.ts'
import { connectionEvents } from '../serve/transport.ts'
import { refusal, type TlsHandlers, type UnnamedSocket } from './bun-tls.ts'
import type { Certificates } from './certificates.ts'
import { ACME_PROTOCOL, connectionFor } from './protocols.ts'
import { TlsAccept, type TlsAcceptParts } from './tls-accept.ts'

/** A fatal alert in a record of its own: unrecognized_name (RFC 6066 section 3). */
export const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112])

export type Agreed = (accept: TlsAccept, socket: ClientSocket) => void

export const handshakeEvents = (parts: TlsAcceptParts, agreed: Agreed = beginHttp(parts)) =>
  ({
    ...connectionEvents(parts.reception),
    handshake(socket: ClientSocket, isAgreed: boolean, error: Error | null) {
      const accept = socket.data
      if (!(accept instanceof TlsAccept)) return
      accept.moveTo(socket)
      if (!isAgreed) accept.fail(error?.message ?? 'no reason')
      else agreed(accept, socket)
    },
  }) satisfies Bun.SocketHandler<Connection>

const beginHttp =
  ({ reception }: TlsAcceptParts): Agreed =>
  (accept, socket) => {
    // The authority has seen the certificate, which is all it came for.
    if (socket.alpnProtocol === ACME_PROTOCOL) accept.drop()
    else accept.settle(() => connectionFor(socket.alpnProtocol, socket, reception.context))
  }

export const tlsEvents = (parts: TlsAcceptParts, certificates: Certificates): TlsHandlers<Connection> => ({
  ...handshakeEvents(parts),
  open: (socket) => parts.reception.admit(socket, () => new TlsAccept(socket, parts)),
  serverName(_listener, name, socket) {
    const context = certificates.contextFor(name)
    if (context === undefined) sayUnrecognized(socket)
    return context ?? refusal
  },
})

function sayUnrecognized({ fd }: UnnamedSocket): void {
  try {
    writeSync(fd, UNRECOGNIZED_NAME)
  } catch {}
}
