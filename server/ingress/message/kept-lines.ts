import type { Field } from './field-lines.ts'

/** The lines of a head that pass, as they were sent. Neighbours stay in one piece: most heads have few lines that do not pass. */
export function linesKept(head: { text: string; fields: readonly Field[] }, passes: (field: Field) => boolean): string {
  let kept = ''
  let from = head.fields[0]?.from ?? 0
  let to = from
  for (const field of head.fields) {
    if (!passes(field)) {
      kept += head.text.slice(from, to)
      from = field.to
    }
    to = field.to
  }
  return kept + head.text.slice(from, to)
}
