import { createSecureContext } from 'node:tls'

// What Bun's TLS sockets can do beyond its types, in one place; a test holds each of these behaviours.

/** Certificate and key as TLS uses them: costly to make, cheap to use for many connections. */
export interface SecureContext {
  readonly addCACert: unknown
}

export interface KeyPair {
  certificate: string
  key: string
}

/** Forward secrecy and authenticated encryption only, as Mozilla's intermediate profile has it; those of TLS 1.3 are all of that kind. */
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')
const TLS_1_2 = 0x303

export function secureContextOf({ certificate, key }: KeyPair): SecureContext {
  return createSecureContext({ cert: certificate, key, ciphers: CIPHERS, minVersion: 'TLSv1.2' }).context
}

/** The client hello could not be matched: Bun refuses the connection when this is returned from `serverName`. */
export const refusal = new Error('no certificate for this name')

export interface UnnamedSocket {
  readonly fd: number
}

export interface TlsHandlers<Data> extends Bun.SocketHandler<Data> {
  /** Finds the certificate for the name that a client asks for; undefined stands for the listener's own. Not called without a name. */
  serverName(listener: unknown, name: string, socket: UnnamedSocket): SecureContext | Error | undefined
}

type ListenPlace = { fd: number } | { hostname: string; port: number }

interface PlainListen<Data> {
  place: ListenPlace
  handlers: Bun.SocketHandler<Data>
}

interface TlsListen<Data> {
  place: ListenPlace
  keyPair: KeyPair | undefined
  protocols: readonly string[]
  handlers: TlsHandlers<Data>
}

export function listenTls<Data>({ place, keyPair, protocols, handlers }: TlsListen<Data>): Bun.TCPSocketListener<Data> {
  const own = keyPair === undefined ? {} : { cert: keyPair.certificate, key: keyPair.key }
  const tls = { ...own, ciphers: CIPHERS, minVersion: TLS_1_2, ALPNProtocols: alpnList(protocols) }
  return listenAt(place, { allowHalfOpen: true, tls, socket: handlers })
}

export function listenPlain<Data>({ place, handlers }: PlainListen<Data>): Bun.TCPSocketListener<Data> {
  return listenAt(place, { allowHalfOpen: true, socket: handlers })
}

function listenAt<Data>(
  place: ListenPlace,
  options: Omit<Bun.TCPSocketListenOptions<Data>, 'hostname' | 'port'>,
): Bun.TCPSocketListener<Data> {
  return Bun.listen<Data>({ ...options, ...place } as Bun.TCPSocketListenOptions<Data>)
}

interface TlsUpgrade<Data> {
  data: Data
  context: SecureContext | undefined
  protocols: readonly string[]
  received: Buffer
  handlers: Bun.SocketHandler<Data>
}

/** Makes an accepted connection the server's side of TLS. The socket given goes on emitting encrypted bytes, which nobody needs. */
export function upgradeServer<Data>(
  socket: Bun.Socket<Data>,
  { data, context, protocols, received, handlers }: TlsUpgrade<Data>,
): Bun.Socket<Data> {
  const tls = { ...(context !== undefined && { secureContext: context }), ALPNProtocols: alpnList(protocols) }
  const options = { data, tls, socket: handlers, isServer: true, initialData: received }
  const [, secured] = socket.upgradeTLS<Data>(options)
  return secured
}

function alpnList(protocols: readonly string[]): string {
  return protocols.map((name) => String.fromCharCode(name.length) + name).join('')
}
