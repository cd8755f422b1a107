import type { ClientContext, ClientSocket, Connection } from '../exchange/client-context.ts'
import { ClientConnection } from '../http1/connection.ts'
import { Http2Connection } from '../http2/connection.ts'

export const PROTOCOLS = ['h2', 'http/1.1'] as const

/** Spoken by the authority alone, to see a certificate (RFC 8737). */
export const ACME_PROTOCOL = 'acme-tls/1'

export function connectionFor(protocol: string | false | null, socket: ClientSocket, context: ClientContext): Connection {
  return protocol === 'h2' ? new Http2Connection(socket, context, 'https') : new ClientConnection(socket, context, 'https')
}
