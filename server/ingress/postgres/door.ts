import { beginSession, type DoorParts } from '../databases/doors.ts'
import { Naming } from '../databases/naming.ts'
import { NO_APPLICATION_PROTOCOL, type SecureParts, secure } from '../databases/secure.ts'
import type { ClientSocket } from '../exchange/client-context.ts'
import { plainTransportOf, type Reception, type Transport } from '../serve/transport.ts'
import { TlsAccept } from '../tls/tls-accept.ts'
import type { CancelKeys } from './cancel-keys.ts'
import { errorResponse } from './error-response.ts'
import { type CancelKey, readFirstPacket } from './first-packet.ts'
import { invited, plainAnswer, UNREACHABLE } from './invitation.ts'
import { PostgresSession } from './session.ts'

export interface PostgresDoorParts extends DoorParts {
  keys: CancelKeys
  /** Brings a request to cancel to whom it is meant for; settles when that one has taken it. */
  cancel(key: CancelKey): Promise<void>
}

const PROTOCOL = 'postgresql'
const TLS_RECORD = 22
const [YES, NO] = [Buffer.from('S'), Buffer.from('N')]

/** One port for all databases: TLS ends here, and its name tells which is meant. */
export const postgresTransport = (parts: PostgresDoorParts): Transport =>
  plainTransportOf('CP_INGRESS_POSTGRES', (socket, reception) => greet(socket, { ...parts, reception }))

type Received = PostgresDoorParts & { reception: Reception }

/** The client asks for TLS, begins it at once, or comes in clear to cancel something. */
function greet(socket: ClientSocket, parts: Received): TlsAccept {
  let received = Buffer.alloc(0)
  let isSecuring = false
  let hasAskedForGss = false
  const inside = securing(parts)

  function read(bytes: Buffer): void {
    received = Buffer.concat([received, bytes])
    if (isSecuring) secure({ socket, accept, received, agreed: inside.agreed }, inside.parts)
    else if (received[0] === TLS_RECORD) secure({ socket, accept, received, refuse: refuseOthers, agreed: inside.agreed }, inside.parts)
    else readPacket()
  }

  function readPacket(): void {
    const packet = readFirstPacket(received)
    switch (packet.kind) {
      case 'incomplete':
        return
      case 'ssl_request':
      case 'gss_request':
        // What follows before the answer was put there by somebody in between (CVE-2021-23214).
        if (received.length > packet.bytes) return void accept.fail('something followed the request for encryption')
        if (packet.kind === 'gss_request' && hasAskedForGss) return void accept.fail('encryption by GSSAPI was asked for twice')
        received = Buffer.alloc(0)
        isSecuring = packet.kind === 'ssl_request'
        hasAskedForGss = true
        socket.write(isSecuring ? YES : NO)
        return
      case 'cancel':
        void parts.cancel(packet.key).finally(() => accept.leave())
        return
      default:
        accept.refuse(`no session begins in clear (${packet.kind})`, errorResponse(plainAnswer(packet.kind)))
    }
  }

  const accept = new TlsAccept(socket, parts, read)
  return accept
}

const refuseOthers = ({ protocols }: { protocols: readonly string[] }) =>
  protocols.includes(PROTOCOL) ? undefined : { alert: NO_APPLICATION_PROTOCOL, reason: 'direct TLS without the protocol postgresql' }

function securing(parts: Received) {
  const { reception, failures, certificates } = parts
  const secureParts: SecureParts = {
    reception,
    failures,
    protocols: [PROTOCOL],
    contextFor: (name) => certificates.contextFor(name),
  }
  const agreed = (serverName: string | undefined) => (accept: TlsAccept, socket: ClientSocket) =>
    accept.settle(() => new Naming(socket, { reception, read: (naming, received) => readStartup(naming, received, serverName, parts) }))
  return { parts: secureParts, agreed }
}

function readStartup(naming: Naming, received: Buffer, serverName: string | undefined, parts: Received): void {
  const packet = readFirstPacket(received)
  if (packet.kind === 'incomplete') return
  if (packet.kind === 'cancel') {
    naming.wait()
    void parts.cancel(packet.key).finally(() => naming.leave(''))
    return
  }
  const address = naming.socket.remoteAddress
  const invitation = invited(packet, { serverName, address, find: (host) => parts.directory.byHost('postgres', host) })
  if ('fatal' in invitation) {
    const { id, fatal } = invitation
    if (id !== undefined) parts.refused(id, address, fatal.message)
    return void naming.leave(errorResponse(fatal))
  }
  const { id, target, about } = invitation
  let forget = () => {}
  const watch = new PostgresSession((key) => {
    forget()
    forget = parts.keys.add(key, target)
  })
  const session = { id, target, about, first: received, watch, unreachable: () => errorResponse(UNREACHABLE), gone: () => forget() }
  beginSession(naming, session, parts)
}
