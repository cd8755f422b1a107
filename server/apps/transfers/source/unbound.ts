import { Transform } from 'node:stream'

/** Messages of the server begin with a letter and an int32 of their length, which it is part of (PostgreSQL's manual, 54.7). */
const HEAD_BYTES = 5
const AUTHENTICATION = 'R'.charCodeAt(0)
const NEGOTIATION = 'v'.charCodeAt(0)
const SASL = 10
const BINDING = /-PLUS$/
/** What comes before a client is let in is short; whatever is longer is left to the client. */
const MOST_BYTES = 64 * 1024

/**
 * What a server says, without the ways to log in that bind the password to an encrypted channel: the channel ends before the tools, and libpq takes
 * such an offer in clear for an attack.
 */
export function withoutBinding(): Transform {
  let held: Buffer | undefined = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (held === undefined) return done(null, chunk)
      held = Buffer.concat([held, chunk])
      const [ready, rest] = rewritten(held)
      held = rest
      done(null, ready)
    },
    flush(done) {
      done(null, held)
    },
  })
}

/** What can be passed on, and what has to wait for more; nothing waits once the ways to log in were offered. */
function rewritten(bytes: Buffer): [Buffer, Buffer | undefined] {
  if (bytes.length < HEAD_BYTES) return [Buffer.alloc(0), bytes]
  const end = 1 + bytes.readInt32BE(1)
  if (end < HEAD_BYTES || end > MOST_BYTES) return [bytes, undefined]
  if (bytes.length < end) return [Buffer.alloc(0), bytes]
  const [message, more] = [bytes.subarray(0, end), bytes.subarray(end)]
  if (message[0] === NEGOTIATION) {
    const [ready, rest] = rewritten(more)
    return [Buffer.concat([message, ready]), rest]
  }
  return [Buffer.concat([isOffer(message) ? offerOf(message) : message, more]), undefined]
}

const isOffer = (message: Buffer): boolean =>
  message[0] === AUTHENTICATION && message.length >= HEAD_BYTES + 4 && message.readInt32BE(HEAD_BYTES) === SASL

function offerOf(message: Buffer): Buffer {
  const names = message.toString('latin1', HEAD_BYTES + 4).split('\0')
  const body = Buffer.from(names.filter((name) => !BINDING.test(name)).join('\0'), 'latin1')
  const head = Buffer.from(message.subarray(0, HEAD_BYTES + 4))
  head.writeInt32BE(HEAD_BYTES + 4 + body.length - 1, 1)
  return Buffer.concat([head, body])
}
