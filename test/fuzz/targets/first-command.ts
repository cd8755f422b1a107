import { type Reading, readCommand } from '../../../server/ingress/key-value/first-command.ts'
import { errorLine, stepFor } from '../../../server/ingress/key-value/first-words.ts'
import type { FuzzTarget } from '../base/target.ts'
import { cut } from './request-head.ts'

const MAX_COMMAND_BYTES = 4096

/** Commands that come before a key-value store is named: in one piece and in several, and to whom they lead. */
export function firstCommandTarget(): FuzzTarget {
  return {
    name: 'first-command',
    seeds,
    dictionary,
    check(input, random) {
      const whole = readIn([input])
      const pieces = readIn(cut(input, random))
      if (whole !== pieces) throw new Error(`read in pieces: ${pieces}\nread whole: ${whole}`)
      const kinds = whole.split(' ').filter((word) => /^[a-z]+$/.test(word))
      return `${kinds.at(-1) ?? 'open'}/${Math.min(8, kinds.length)}/${Math.ceil(Math.log2(1 + input.length))}`
    },
  }
}

/** Commands one after the other, until one leads in, as at the port; what they say in the end. */
function readIn(pieces: readonly Buffer[]): string {
  let rest = Buffer.alloc(0)
  const told: string[] = []
  for (const piece of pieces) {
    rest = Buffer.concat([rest, piece])
    for (;;) {
      const reading = readCommand(rest)
      if (reading.kind === 'incomplete' && rest.length >= MAX_COMMAND_BYTES) throw new Error('more is waited for than a command may have')
      if (reading.kind === 'incomplete' || rest.length === 0) break
      told.push(tellOf(reading, rest))
      if (reading.kind === 'malformed' || stepFor(reading.words).kind !== 'answer') return told.join(' ')
      rest = rest.subarray(reading.bytes)
    }
  }
  return told.join(' ')
}

function tellOf(reading: Exclude<Reading, { kind: 'incomplete' }>, from: Buffer): string {
  if (reading.kind === 'malformed') return 'malformed'
  const { words, bytes } = reading
  if (bytes < 1 || bytes > from.length) throw new Error(`a command of ${bytes} bytes`)
  const step = stepFor(words)
  if (step.kind === 'enter') return `enter ${JSON.stringify(step.user)}`
  if (step.text !== '' && !/^[-+][^\r\n]*\r\n$/.test(step.text)) throw new Error(`no line: ${JSON.stringify(step.text)}`)
  if (!/^-ERR [ -~]*\r\n$/.test(errorLine(words.join(' ')))) throw new Error('an error of several lines')
  return step.kind
}

const bulk = (...parts: string[]): string => `*${parts.length}\r\n${parts.map((part) => `$${part.length}\r\n${part}\r\n`).join('')}`

const seeds = [
  bulk('AUTH', 'red-0b1c2d3e4f5g6h7i8j9k', 'pw'),
  bulk('HELLO', '3', 'AUTH', 'red-0b1c2d3e4f5g6h7i8j9k', 'pw', 'SETNAME', 'x'),
  bulk('HELLO', '3', 'SETNAME', 'x', 'AUTH', 'a', 'b'),
  `${bulk('PING')}${bulk('CLIENT', 'SETINFO', 'LIB-NAME', 'x')}${bulk('AUTH', 'pw')}`,
  'PING\r\nAUTH "red-a" \'pw\'\r\nQUIT\r\n',
  '\r\n\n\nHELLO 2\n',
]

const dictionary = [
  ...[
    '\r',
    '\n',
    '\r\n',
    '*',
    '$',
    '*1\r\n',
    '*3\r\n',
    '*-1\r\n',
    '$-1\r\n',
    '$0\r\n\r\n',
    '$4096\r\n',
    '*16\r\n',
    '*17\r\n',
    ' ',
    '"',
    "'",
    '\0',
    '\xff',
  ],
  ...['AUTH', 'HELLO', 'SETNAME', 'QUIT', 'auth', '999999', '0000001', ...seeds],
]
