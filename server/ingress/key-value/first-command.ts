/** Reads one command of the protocol of Redis and Valkey, as an array of bulk strings or as a line of words. */

const MAX_COMMAND_BYTES = 4096
const MAX_WORDS = 16
const MAX_DIGITS = 6
const [CR, LF, DOLLAR] = [13, 10, 36]

export type Reading = { kind: 'incomplete' } | { kind: 'malformed' } | { kind: 'command'; words: string[]; bytes: number }

const INCOMPLETE: Reading = { kind: 'incomplete' }
const MALFORMED: Reading = { kind: 'malformed' }

export function readCommand(bytes: Buffer): Reading {
  const reading = bytes.subarray(0, 1).toString('latin1') === '*' ? readArray(bytes) : readLine(bytes)
  return reading.kind === 'incomplete' && bytes.length >= MAX_COMMAND_BYTES ? MALFORMED : reading
}

function readArray(bytes: Buffer): Reading {
  const count = numberAt(bytes, 0)
  if (typeof count === 'string') return { kind: count }
  if (count.value < 1 || count.value > MAX_WORDS) return MALFORMED
  const words: string[] = []
  let at = count.end
  while (words.length < count.value) {
    const bulk = bulkAt(bytes, at)
    if (typeof bulk === 'string') return { kind: bulk }
    words.push(bulk.text)
    at = bulk.end
  }
  return { kind: 'command', words, bytes: at }
}

type Lack = 'incomplete' | 'malformed'

/** A bulk string: its length in a line behind a dollar sign, its bytes, the end of a line. */
function bulkAt(bytes: Buffer, at: number): { text: string; end: number } | Lack {
  if (at < bytes.length && bytes[at] !== DOLLAR) return 'malformed'
  const length = numberAt(bytes, at)
  if (typeof length === 'string') return length
  if (length.value > MAX_COMMAND_BYTES) return 'malformed'
  const end = length.end + length.value
  if (bytes.length < end + 2) return 'incomplete'
  const isEnded = bytes[end] === CR && bytes[end + 1] === LF
  return isEnded ? { text: bytes.toString('utf8', length.end, end), end: end + 2 } : 'malformed'
}

function numberAt(bytes: Buffer, at: number): { value: number; end: number } | Lack {
  const end = bytes.indexOf(LF, at)
  const text = bytes.toString('latin1', at + 1, end < 0 ? Math.min(bytes.length, at + MAX_DIGITS + 2) : end)
  if (end < 0) return /^\d{0,6}\r?$/.test(text) ? 'incomplete' : 'malformed'
  return /^\d{1,6}\r$/.test(text) ? { value: Number(text.slice(0, -1)), end: end + 1 } : 'malformed'
}

function readLine(bytes: Buffer): Reading {
  const end = bytes.indexOf(LF)
  if (end < 0) return INCOMPLETE
  if (end > MAX_COMMAND_BYTES) return MALFORMED
  const words = bytes
    .toString('utf8', 0, end)
    .split(/[ \r]+/)
    .filter((word) => word !== '')
  return words.length > MAX_WORDS ? MALFORMED : { kind: 'command', words: words.map(unquoted), bytes: end + 1 }
}

const unquoted = (word: string): string => (/^(["']).*\1$/.test(word) && word.length > 1 ? word.slice(1, -1) : word)
