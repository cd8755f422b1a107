import { BadMessage } from './bad-message.ts'
import { COLON, CR, isTokenCode, isValueCode, LF, skipWhile, trimBlanks } from './characters.ts'

export interface Field {
  /** In lower case. */
  name: string
  value: string
  /** As it was sent, with its CRLF. */
  line: string
}

/**
 * Reads the field lines of a head from `start` up to its empty line. White space before a colon, folded lines, bare CR or LF and
 * control characters are what request smuggling is made of: any of them refuses the message.
 */
export function parseFieldLines(head: string, start: number, maxFields: number): Field[] {
  const fields: Field[] = []
  const end = head.length - 2
  for (let at = start; at < end; ) {
    const colon = skipWhile(head, at, isTokenCode)
    if (colon === at || head.charCodeAt(colon) !== COLON) throw new BadMessage(400, 'a header line has no valid name')
    const lineEnd = skipWhile(head, colon + 1, isValueCode)
    if (head.charCodeAt(lineEnd) !== CR || head.charCodeAt(lineEnd + 1) !== LF) {
      throw new BadMessage(400, 'a header value holds a character that is not allowed')
    }
    if (fields.length === maxFields) throw new BadMessage(431, `more than ${maxFields} header lines`)
    fields.push({
      name: head.slice(at, colon).toLowerCase(),
      value: trimBlanks(head, colon + 1, lineEnd),
      line: head.slice(at, lineEnd + 2),
    })
    at = lineEnd + 2
  }
  return fields
}

/** The members of a comma-separated list, in lower case. */
export function listOf(value: string): string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((member) => trimBlanks(member, 0, member.length))
    .filter((member) => member !== '')
}
