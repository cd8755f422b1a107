import { BadMessage } from './bad-message.ts'
import { COLON, CR, isTokenCode, isValueCode, LF, skipWhile, trimBlanks } from './characters.ts'
import { type KnownName, knownName, spells } from './known-names.ts'

export class Field {
  readonly #head: string
  readonly #colon: number
  readonly from: number
  readonly to: number
  readonly known: KnownName | undefined

  constructor(head: string, { from, colon, to, known }: { from: number; colon: number; to: number; known: KnownName | undefined }) {
    this.#head = head
    this.#colon = colon
    this.from = from
    this.to = to
    this.known = known
  }

  get name(): string {
    return this.#head.slice(this.from, this.#colon).toLowerCase()
  }

  get value(): string {
    return trimBlanks(this.#head, this.#colon + 1, this.to - 2)
  }

  is(name: string): boolean {
    return this.#colon - this.from === name.length && spells(this.#head, this.from, name)
  }

  isIn(names: readonly string[]): boolean {
    for (const name of names) if (this.is(name)) return true
    return false
  }

  nameBeginsWith(prefix: string): boolean {
    return this.#colon - this.from >= prefix.length && spells(this.#head, this.from, prefix)
  }

  nameHas(code: number): boolean {
    for (let at = this.from; at < this.#colon; at++) if (this.#head.charCodeAt(at) === code) return true
    return false
  }

  valueHas(code: number): boolean {
    for (let at = this.#colon + 1; at < this.to; at++) if (this.#head.charCodeAt(at) === code) return true
    return false
  }
}

const LOWER_X = 'x'.charCodeAt(0)
const TO_LOWER_CASE = 32
const UNDERSCORE = '_'.charCodeAt(0)
const FORWARDED_PREFIX = 'x-forwarded-'

/**
 * Checks the field lines of a head from `start` up to its empty line. White space before a colon, folded lines, bare CR or LF and
 * control characters are what request smuggling is made of: any of them refuses the message. Returns the lines a proxy may have to
 * look at: those with a known name, any `X-Forwarded-…`, and those with an underscore, which may pass for another name.
 */
export function scanFieldLines(head: string, start: number, maxFields: number): Field[] {
  const notable: Field[] = []
  const end = head.length - 2
  let count = 0
  for (let at = start; at < end; ) {
    const colon = skipWhile(head, at, isTokenCode)
    if (colon === at || head.charCodeAt(colon) !== COLON) throw new BadMessage(400, 'a header line has no valid name')
    const lineEnd = skipWhile(head, colon + 1, isValueCode)
    if (head.charCodeAt(lineEnd) !== CR || head.charCodeAt(lineEnd + 1) !== LF) {
      throw new BadMessage(400, 'a header value holds a character that is not allowed')
    }
    if (count === maxFields) throw new BadMessage(431, `more than ${maxFields} header lines`)
    count++
    const known = knownName(head, at, colon)
    if (known !== undefined || isSuspicious(head, at, colon)) notable.push(new Field(head, { from: at, colon, to: lineEnd + 2, known }))
    at = lineEnd + 2
  }
  return notable
}

function isSuspicious(head: string, from: number, colon: number): boolean {
  if ((head.charCodeAt(from) | TO_LOWER_CASE) === LOWER_X && spells(head, from, FORWARDED_PREFIX)) return true
  for (let at = from; at < colon; at++) if (head.charCodeAt(at) === UNDERSCORE) return true
  return false
}

export function fieldLinesOf(head: string, start: number): Field[] {
  const fields: Field[] = []
  const end = head.length - 2
  for (let at = start; at < end; ) {
    const colon = head.indexOf(':', at)
    const to = head.indexOf('\r\n', colon) + 2
    fields.push(new Field(head, { from: at, colon, to, known: knownName(head, at, colon) }))
    at = to
  }
  return fields
}

export function parseFieldLines(head: string, start: number, maxFields: number): Field[] {
  scanFieldLines(head, start, maxFields)
  return fieldLinesOf(head, start)
}

export function listOf(value: string): string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((member) => trimBlanks(member, 0, member.length))
    .filter((member) => member !== '')
}
