import { type Field, fieldLinesOf, scanFieldLines } from './field-lines.ts'

/** The trailers of a chunked body from their lines, each of which was checked when it came. @throws BadMessage where they are too many. */
export function parseTrailers(lines: string, maxFields: number): Field[] {
  const text = `${lines}\r\n`
  scanFieldLines(text, 0, maxFields)
  return fieldLinesOf(text, 0)
}
