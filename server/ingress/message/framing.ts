import { BadMessage } from './bad-message.ts'
import { TAB } from './characters.ts'
import { type Field, listOf } from './field-lines.ts'

export type Framing = { kind: 'none' } | { kind: 'length'; bytes: number } | { kind: 'chunked' } | { kind: 'until-close' }

export interface MessageControls {
  framing: Framing
  connection: readonly string[]
}

const usualMembers = new Set(['close', 'keep-alive', 'upgrade', 'te'])

export const namesOtherFields = (connection: readonly string[]): boolean =>
  connection.length > 0 && connection.some((member) => !usualMembers.has(member))

export const NO_BODY: Framing = { kind: 'none' }
const NO_MEMBERS: readonly string[] = []
const CHUNKED: Framing = { kind: 'chunked' }

/** A message that asks to drop one of these on the way would be framed or routed differently behind us. */
const undroppable = new Set(['content-length', 'transfer-encoding', 'host'])

/**
 * Reads framing and Connection, refusing every ambiguity: both lengths, a repeated one, a coding other than exactly `chunked`.
 * Equal repeated lengths are refused too: whoever sends them is broken or trying.
 */
export function readControls(fields: readonly Field[], minorVersion: number): MessageControls {
  let length: string | undefined
  let coding: string | undefined
  let connection = NO_MEMBERS
  for (const field of fields) {
    if (field.known === 'content-length') {
      if (length !== undefined) throw new BadMessage(400, 'Content-Length is repeated')
      length = framingValue(field)
    } else if (field.known === 'transfer-encoding') {
      if (coding !== undefined) throw new BadMessage(400, 'Transfer-Encoding is repeated')
      coding = framingValue(field)
    } else if (field.known === 'connection') {
      connection = connection.concat(listOf(field.value))
    }
  }
  if (connection.some((member) => undroppable.has(member))) throw new BadMessage(400, 'Connection names a header that may not be dropped')
  return { framing: framingOf(length, coding, minorVersion), connection }
}

function framingValue(field: Field): string {
  if (field.valueHas(TAB)) throw new BadMessage(400, 'a field of the framing holds a tab')
  return field.value
}

function framingOf(length: string | undefined, coding: string | undefined, minorVersion: number): Framing {
  if (coding !== undefined) {
    if (length !== undefined) throw new BadMessage(400, 'both Content-Length and Transfer-Encoding are given')
    if (minorVersion === 0) throw new BadMessage(400, 'Transfer-Encoding is not part of HTTP/1.0')
    if (coding.toLowerCase() !== 'chunked') throw new BadMessage(400, 'Transfer-Encoding is not exactly "chunked"')
    return CHUNKED
  }
  if (length === undefined) return NO_BODY
  // Fifteen digits stay exact in a JavaScript number.
  if (!/^[0-9]{1,15}$/.test(length)) throw new BadMessage(400, 'Content-Length is not a number')
  return { kind: 'length', bytes: Number(length) }
}
