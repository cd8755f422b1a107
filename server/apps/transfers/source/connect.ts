/**
 * Connects to another database for tools that cannot: to a checked address and to no other, encrypted as the connection string asks. The
 * tools speak in clear to the socket that they are shown.
 */
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { parseIp } from '../../../../shared/ip-address.ts'
import { OutgoingProblem } from '../../../platform/outgoing/problem.ts'
import { type Lookup, resolveReachable } from '../../../platform/outgoing/resolve.ts'
import type { OutgoingPolicy } from '../../../platform/outgoing/rules.ts'
import type { SourceDatabase } from './url.ts'

export interface SourceWay {
  policy: OutgoingPolicy
  lookup: Lookup
  signal: AbortSignal
}

const CONNECT_MS = 15_000
/** An int32 of the length, and the code of PostgreSQL's protocol for "encrypt from here on". */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const ACCEPTED = 'S'.charCodeAt(0)
const REFUSED = 'N'.charCodeAt(0)

/** @throws OutgoingProblem saying why it is not reached, or not encrypted as asked. */
export async function connectSource(source: SourceDatabase, { policy, lookup, signal }: SourceWay): Promise<Duplex> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)])
  const [address = ''] = await resolveReachable(source.host, policy, { lookup, signal: limit })
  const socket = connect({ host: address, port: source.port })
  const cut = () => socket.destroy(new Error('no answer in time'))
  limit.addEventListener('abort', cut, { once: true })
  try {
    await once(socket, 'connect')
    return source.sslMode === 'disable' ? socket : await encrypted(socket, source)
  } catch (cause) {
    socket.destroy()
    if (cause instanceof OutgoingProblem) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new OutgoingProblem('unreachable', `${source.host} could not be connected to at port ${source.port} (${why}).`, { cause })
  } finally {
    limit.removeEventListener('abort', cut)
  }
}

async function encrypted(socket: Socket, { host, sslMode }: SourceDatabase): Promise<Duplex> {
  socket.write(SSL_REQUEST)
  const answer = await firstByte(socket)
  if (answer === REFUSED && sslMode === 'prefer') return socket
  if (answer !== ACCEPTED)
    throw new OutgoingProblem('refused', `${host} offers no encryption. Say sslmode=disable to send the password in clear all the same.`)
  const isNamed = parseIp(host) === undefined
  const secure = connectTls({
    socket,
    ...(isNamed && { servername: host }),
    rejectUnauthorized: sslMode.startsWith('verify'),
    ...(sslMode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  })
  await once(secure, 'secureConnect')
  return secure
}

/** Nothing may come with the answer, which would be taken as encrypted (CVE-2021-23222). */
async function firstByte(socket: Socket): Promise<number | undefined> {
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    socket.once('data', resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('it hung up')))
  })
  socket.pause()
  if (bytes.length !== 1) throw new Error('its answer is not that of PostgreSQL')
  return bytes[0]
}

function once(emitter: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    emitter.once(event, () => resolve())
    emitter.once('error', reject)
    emitter.once('close', () => reject(new Error('it hung up')))
  })
}
