import type { Field } from './field-lines.ts'

/** Where the text of a head goes, part after part. */
export interface HeadWriter {
  writeHead(text: string): void
}

/**
 * Writes a head from `from` on without its empty line and without those of `fields` that do not pass, as it was sent. Neighbours stay
 * in one piece: most heads have few lines that do not pass. `fields` are all that might not, in the order of the head.
 */
export function writeKept(
  out: HeadWriter,
  { text, from, fields }: { text: string; from: number; fields: readonly Field[] },
  passes: (field: Field) => boolean,
): void {
  let start = from
  for (const field of fields) {
    if (passes(field)) continue
    if (field.from > start) out.writeHead(text.slice(start, field.from))
    start = field.to
  }
  const end = text.length - 2
  if (end > start) out.writeHead(text.slice(start, end))
}
