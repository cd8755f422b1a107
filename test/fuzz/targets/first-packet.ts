import { listed } from '../../../server/ingress/databases/admission.ts'
import { cancelRequestOf, type FirstPacket, readFirstPacket } from '../../../server/ingress/postgres/first-packet.ts'
import { invited } from '../../../server/ingress/postgres/invitation.ts'
import { PostgresSession } from '../../../server/ingress/postgres/session.ts'
import type { FuzzTarget } from '../base/target.ts'
import { cut } from './request-head.ts'

const HOST = 'dpg-0b1c2d3e4f5g6h7i8j9k-a.db.test'
const TARGET = { instanceId: 'i', host: '127.0.0.1', port: 5432 }
const route = { kind: 'postgres', name: 'orders', host: HOST, state: 'running', targets: [TARGET], allow: ['127.0.0.1'] } as const
const found = listed('dpg-0b1c2d3e4f5g6h7i8j9k-a', { ...route, targets: [TARGET], allow: ['127.0.0.1'] })
const find = (host: string) => (host === HOST ? found : undefined)
const MAX_PACKET_BYTES = 10_000

/** The beginning of a session with a Postgres: whom it lets in, and how its messages are followed, in one piece and in several. */
export function firstPacketTarget(): FuzzTarget {
  return {
    name: 'first-packet',
    seeds,
    dictionary,
    check(input, random) {
      const whole = readFirstPacket(input)
      const pieces = inPieces(cut(input, random))
      if (JSON.stringify(whole) !== JSON.stringify(pieces)) throw new Error(`read in pieces: ${JSON.stringify(pieces)}`)
      if (whole.kind === 'cancel') passedOn(whole, input)
      for (const address of ['127.0.0.1', '10.0.0.1']) admitted(whole, input, address)
      const followed = followedIn([input])
      if (followed !== followedIn(cut(input, random))) throw new Error(`followed in pieces otherwise than ${followed}`)
      return `${whole.kind}/${'parameters' in whole ? whole.parameters.length : followed.length}`
    },
  }
}

/** A reader that is asked again whenever more has come, as at the port. */
function inPieces(pieces: readonly Buffer[]): FirstPacket {
  let received = Buffer.alloc(0)
  let packet = readFirstPacket(received)
  for (const piece of pieces) {
    received = Buffer.concat([received, piece])
    packet = readFirstPacket(received)
    if (packet.kind !== 'incomplete') return packet
    if (received.length >= MAX_PACKET_BYTES) throw new Error('more is waited for than a packet may have')
  }
  return packet
}

function passedOn({ key }: Extract<FirstPacket, { kind: 'cancel' }>, input: Buffer): void {
  const packet = cancelRequestOf(key)
  if (!packet.equals(input.subarray(0, packet.length))) throw new Error('a request to cancel is passed on otherwise than it came')
}

/** Nobody comes in without a name and an address of the list, as a role of the platform, or to stream. */
function admitted(packet: FirstPacket, input: Buffer, address: string): void {
  for (const serverName of [undefined, 'other.test']) {
    if (!('fatal' in invited(packet, { serverName, address, find }))) throw new Error('let in without a name')
  }
  const invitation = invited(packet, { serverName: HOST, address, find })
  if ('fatal' in invitation) return
  if (address !== '127.0.0.1' || packet.kind !== 'startup') throw new Error(`let in from ${address} with ${packet.kind}`)
  const words = input.toString('latin1', 8, packet.bytes).split('\0')
  if (words.some((word, at) => at % 2 === 1 && words[at - 1] === 'user' && word.startsWith('cpd_')))
    throw new Error('let in as the platform')
}

/** All that the ingress comes to know of a session whose server, or client, says this. */
function followedIn(pieces: readonly Buffer[]): string {
  const keys: string[] = []
  const session = new PostgresSession(({ processId, secret }) => keys.push(`${processId}:${secret.length}`))
  const other = new PostgresSession(() => keys.push('a client told a key'))
  for (const piece of pieces) {
    session.serverSaid(piece)
    other.clientSaid(piece)
  }
  const { length } = session.farewell() ?? ''
  return [session.isIdle, length, other.isIdle, ...keys].join(' ')
}

function packet(code: number, body: string): string {
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + body.length, 0)
  head.writeInt32BE(code, 4)
  return head.toString('latin1') + body
}

const [SSL, GSS, CANCEL, V3, V32] = [80_877_103, 80_877_104, 80_877_102, 3 << 16, (3 << 16) | 2]

const seeds = [
  packet(SSL, ''),
  packet(GSS, ''),
  packet(CANCEL, '\0\0\0\x2a\x01\x02\x03\x04'),
  packet(CANCEL, `\0\0\0\x2a${'k'.repeat(32)}`),
  packet(V3, 'user\0ada\0database\0shop\0\0'),
  packet(V32, 'user\0ada\0replication\0database\0options\0-c a=b\0\0'),
  packet(V3, 'user\0cpd_admin\0user\0ada\0\0'),
  'R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x2a\x01\x02\x03\x04Z\0\0\0\x05I',
  'Q\0\0\0\x0dSELECT 1\0S\0\0\0\x04Z\0\0\0\x05TZ\0\0\0\x05E',
]

const words = [
  '\0',
  '\0\0',
  'user',
  'user\0cpd_backup\0',
  'database\0',
  'replication\0true\0',
  'Z\0\0\0\x05I',
  'K\0\0\0\x0c',
  '\0\0\0\x04',
  '\xff\xff\xff\xff',
  '\0\x03\0\0',
  '\x04\xd2\x16\x2f',
  '\x7f\xff\xff\xff',
]
const dictionary = [...words, ...seeds]
