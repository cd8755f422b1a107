import type { ClientSocket } from '../exchange/client-context.ts'
import { type SecureContext, upgradeServer } from '../tls/bun-tls.ts'
import { type ClientHello, MAX_HELLO_BYTES, readClientHello } from '../tls/client-hello.ts'
import { type Agreed, handshakeEvents, UNRECOGNIZED_NAME } from '../tls/handshakes.ts'
import { SPENT } from '../tls/inspection.ts'
import type { TlsAccept, TlsAcceptParts } from '../tls/tls-accept.ts'

export interface SecureParts extends TlsAcceptParts {
  contextFor(serverName: string | undefined): SecureContext | undefined
  protocols: readonly string[]
}

export interface Upgrade {
  socket: ClientSocket
  accept: TlsAccept
  received: Buffer
  refuse?: (hello: ClientHello) => { alert: Buffer; reason: string } | undefined
  agreed(serverName: string | undefined): Agreed
}

/** A fatal alert: no_application_protocol (RFC 7301 section 3.2). */
export const NO_APPLICATION_PROTOCOL = Buffer.from([21, 3, 3, 0, 2, 2, 120])

/** Ends TLS here, once the first message of the client is whole; until then nothing is done. */
export function secure({ socket, accept, received, refuse, agreed }: Upgrade, parts: SecureParts): void {
  const hello = readClientHello(received)
  if (hello === 'incomplete' && received.length <= MAX_HELLO_BYTES) return
  if (typeof hello === 'string') return void accept.fail('what came was no TLS')
  const refused = refuse?.(hello)
  if (refused !== undefined) return void accept.refuse(refused.reason, refused.alert)
  const context = parts.contextFor(hello.serverName)
  if (context === undefined) return void accept.refuse('no certificate for this name', UNRECOGNIZED_NAME)
  socket.data = SPENT
  const handlers = handshakeEvents(parts, agreed(hello.serverName))
  accept.moveTo(upgradeServer(socket, { data: accept, context, protocols: parts.protocols, received, handlers }))
}
