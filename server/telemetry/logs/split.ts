export interface SplitOptions {
  maxLineBytes: number
  isFinal: boolean
}

export interface SplitLines {
  messages: string[]
  consumedBytes: number
}

const NEWLINE = 10
const CARRIAGE_RETURN = 13

/** Takes arbitrary output apart into lines. Invalid UTF-8 becomes U+FFFD; a character is never cut in two. */
export function splitLines(bytes: Buffer, options: SplitOptions): SplitLines {
  const messages: string[] = []
  let start = 0
  for (let line = lineAt(bytes, start, options); line !== undefined; line = lineAt(bytes, start, options)) {
    messages.push(bytes.toString('utf8', start, line.end))
    start = line.next
  }
  return { messages, consumedBytes: start }
}

function lineAt(bytes: Buffer, start: number, { maxLineBytes, isFinal }: SplitOptions): { end: number; next: number } | undefined {
  if (start >= bytes.length) return undefined
  const newline = bytes.indexOf(NEWLINE, start)
  const isEndUnknown = newline === -1 && !isFinal
  const end = newline === -1 ? bytes.length : contentEnd(bytes, start, newline)
  // A line whose end is unknown may still turn out to end in CR LF right after its last allowed byte.
  if (end - start > maxLineBytes + (isEndUnknown ? 1 : 0)) {
    const cut = characterStart(bytes, start + maxLineBytes)
    return { end: cut, next: cut }
  }
  if (isEndUnknown) return undefined
  return { end, next: newline === -1 ? end : newline + 1 }
}

const contentEnd = (bytes: Buffer, start: number, newline: number): number =>
  newline > start && bytes[newline - 1] === CARRIAGE_RETURN ? newline - 1 : newline

/** The nearest start of a character at or before `index`; `index` itself where the bytes are no UTF-8. */
function characterStart(bytes: Buffer, index: number): number {
  for (let at = index; at > index - 4; at--) {
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at
  }
  return index
}
