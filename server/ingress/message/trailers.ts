import { type Field, parseFieldLines } from './field-lines.ts'

/** The trailers of a chunked body that may pass, from their lines as they came: none by which a proxy, or a client, would decide something. */
export function passingTrailers(lines: string, maxFields: number): Field[] {
  return parseFieldLines(`${lines}\r\n`, 0, maxFields).filter(({ known }) => known === undefined)
}
