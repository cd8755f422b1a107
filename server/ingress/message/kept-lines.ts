import type { Field } from './field-lines.ts'

export interface HeadWriter {
  writeHead(text: string): void
}

export interface Kept {
  text: string
  from: number
  dropped: readonly Field[]
}

export const NONE_DROPPED: readonly Field[] = []

/** Writes a head without its empty line, as it was sent. Neighbours stay in one piece: most heads have few lines that do not pass. */
export function writeKept(out: HeadWriter, { text, from, dropped }: Kept): void {
  let start = from
  for (const field of dropped) {
    if (field.from > start) out.writeHead(text.slice(start, field.from))
    start = field.to
  }
  const end = text.length - 2
  if (end > start) out.writeHead(text.slice(start, end))
}
