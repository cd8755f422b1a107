import { admissionOf, type Refusal } from '../databases/admission.ts'
import { beginSession, type DoorParts } from '../databases/doors.ts'
import { Naming } from '../databases/naming.ts'
import { type SecureParts, secure } from '../databases/secure.ts'
import type { ClientSocket } from '../exchange/client-context.ts'
import { plainTransportOf, type Reception, type Transport } from '../serve/transport.ts'
import { TlsAccept } from '../tls/tls-accept.ts'
import { readCommand } from './first-command.ts'
import { errorLine, noSuchStore, stepFor } from './first-words.ts'
import { KeyValueSession } from './session.ts'

export interface KeyValueDoorParts extends DoorParts {
  /** The shared name whose certificate is shown to clients that name none. */
  host: string
}

const TLS_RECORD = 22
const MAX_STEPS = 16

/** One port for all key-value stores: many clients name no host in TLS, so the user of the first AUTH or HELLO tells which is meant. */
export const keyValueTransport = (parts: KeyValueDoorParts): Transport =>
  plainTransportOf('CP_INGRESS_KEY_VALUE', (socket, reception) => greet(socket, { ...parts, reception }))

type Received = KeyValueDoorParts & { reception: Reception }

function greet(socket: ClientSocket, parts: Received): TlsAccept {
  let received = Buffer.alloc(0)
  const secureParts = secureWith(parts)
  const accept = new TlsAccept(socket, parts, (bytes) => {
    received = Buffer.concat([received, bytes])
    if (received[0] === TLS_RECORD) secure({ socket, accept, received, agreed: () => agreed(parts) }, secureParts)
    else accept.refuse('a client came in clear', Buffer.from(errorLine('TLS is required: connect with rediss:// in place of redis://')))
  })
  return accept
}

const secureWith = ({ reception, failures, certificates, host }: Received): SecureParts => ({
  reception,
  failures,
  protocols: [],
  contextFor: (name) => certificates.contextFor(name ?? host),
})

const agreed = (parts: Received) => (accept: TlsAccept, socket: ClientSocket) =>
  accept.settle(() => new Naming(socket, { reception: parts.reception, read: reader(parts) }))

function reader(parts: Received): (naming: Naming, received: Buffer) => void {
  let steps = 0
  return (naming, received) => {
    for (let rest = received; rest.length > 0; ) {
      const command = readCommand(rest)
      if (command.kind === 'incomplete') return
      if (command.kind === 'malformed' || ++steps > MAX_STEPS) return void naming.leave('-ERR Protocol error\r\n')
      const step = stepFor(command.words)
      if (step.kind === 'enter') return void enter(naming, step.user, rest, parts)
      if (step.kind === 'leave') return void naming.leave(step.text)
      naming.say(step.text)
      naming.consume(command.bytes)
      rest = rest.subarray(command.bytes)
    }
  }
}

function enter(naming: Naming, user: string, first: Buffer, parts: Received): void {
  const { remoteAddress: address } = naming.socket
  const found = parts.directory.byId('key_value', user)
  const admission = admissionOf(found, address)
  if ('refusal' in admission) {
    const words = refusalAnswer(admission.refusal, { address, name: found?.route.name ?? '' })
    if (found !== undefined) parts.refused(found.id, address, words.trim())
    return void naming.leave(words)
  }
  const { target } = admission
  const unreachable = () => Buffer.from(errorLine('the key-value store does not answer at the moment: try again in some seconds'))
  beginSession(naming, { id: user, target, about: '', first: Buffer.from(first), watch: new KeyValueSession(), unreachable }, parts)
}

function refusalAnswer(refusal: Refusal, { address, name }: { address: string; name: string }): string {
  switch (refusal) {
    case 'unknown':
      return noSuchStore()
    case 'not_allowed':
      return errorLine(`connections from ${address} are not allowed: add the address to the allow list of the store (ipAllowList)`)
    case 'suspended':
      return errorLine(`the key-value store ${name} is suspended: resume it, then connect again`)
    case 'unavailable':
      return `-LOADING the key-value store ${name.replace(/[^\x20-\x7e]/g, '')} is starting up or restarting: try again in some seconds\r\n`
    default:
      return refusal satisfies never
  }
}
