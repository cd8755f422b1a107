import type { ClientSocket, Connection } from '../exchange/client-context.ts'
import { connectionEvents } from '../serve/transport.ts'
import { type SecureContext, upgradeServer } from './bun-tls.ts'
import type { Certificates } from './certificates.ts'
import { type ClientHello, MAX_HELLO_BYTES, readClientHello } from './client-hello.ts'
import { handshakeEvents, UNRECOGNIZED_NAME } from './handshakes.ts'
import { ACME_PROTOCOL, PROTOCOLS } from './protocols.ts'
import { TlsAccept, type TlsAcceptParts } from './tls-accept.ts'

/**
 * The other way, for as long as an authority may come to see the certificate of a challenge: it can be told from other clients by the
 * protocol it offers alone, which TLS tells nobody before it has chosen the certificate. So we read the ClientHello ourselves, choose,
 * and hand its bytes on.
 */
export function inspectionEvents(parts: TlsAcceptParts, certificates: Certificates): Bun.SocketHandler<Connection> {
  const inside = handshakeEvents(parts)
  return {
    ...connectionEvents(parts.reception),
    open(socket) {
      let received = Buffer.alloc(0)
      const read = (bytes: Buffer) => {
        received = Buffer.concat([received, bytes])
        const hello = readClientHello(received)
        if (hello === 'incomplete' && received.length <= MAX_HELLO_BYTES) return
        const accept = socket.data
        if (accept instanceof TlsAccept) answer(socket, accept, hello, received)
      }
      parts.reception.admit(socket, () => new TlsAccept(socket, parts, read))
    },
  }

  function answer(socket: ClientSocket, accept: TlsAccept, hello: ReturnType<typeof readClientHello>, received: Buffer): void {
    const choice = typeof hello === 'string' ? { context: undefined, protocols: PROTOCOLS } : choose(certificates, hello)
    if (typeof hello !== 'string' && choice.context === undefined) {
      accept.refuse('no certificate for this name', UNRECOGNIZED_NAME)
      return
    }
    socket.data = SPENT
    accept.moveTo(upgradeServer(socket, { data: accept, ...choice, received, handlers: inside }))
  }
}

interface Choice {
  context: SecureContext | undefined
  protocols: readonly string[]
}

function choose(certificates: Certificates, { serverName, protocols }: ClientHello): Choice {
  const isAuthority = protocols.length === 1 && protocols[0] === ACME_PROTOCOL
  const challenge = isAuthority && serverName !== undefined ? certificates.tlsChallengeContext(serverName) : undefined
  if (challenge !== undefined) return { context: challenge, protocols: [ACME_PROTOCOL] }
  return { context: certificates.contextFor(serverName), protocols: PROTOCOLS }
}

/** Stands in a socket that goes on emitting encrypted bytes, which nobody needs: it is set before `upgradeServer`, which emits some at once. */
export const SPENT: Connection = { received() {}, drained() {}, ended() {}, gone() {}, closeWhenIdle() {}, drop() {} }
