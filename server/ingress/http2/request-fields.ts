import { isTargetCode, isTokenCode, skipWhile } from '../message/characters.ts'
import { isForbiddenTrailer } from '../message/trailer-names.ts'
import { malformed, readingOf } from './field-reading.ts'
import type { FieldReading, HeaderField } from './header-field.ts'

/** What the fields of a request say, checked as far as RFC 9113 section 8 goes; the rest is for whoever reads the HTTP/1 head. */
export interface RequestFields {
  method: string | undefined
  scheme: string | undefined
  authority: string | undefined
  path: string | undefined
  protocol: string | undefined
  lines: string
  hasLength: boolean
}

type PseudoName = 'method' | 'scheme' | 'authority' | 'path' | 'protocol'

interface Collected extends RequestFields {
  cookie: string
  isPastPseudo: boolean
}

const pseudoChecks: Record<PseudoName, (value: string) => boolean> = {
  method: (value) => isAll(value, isTokenCode),
  scheme: (value) => value === 'http' || value === 'https',
  authority: (value) => value === '' || isAll(value, isTargetCode),
  path: (value) => isAll(value, isTargetCode),
  protocol: (value) => isAll(value, isTokenCode),
}
const pseudoNames: ReadonlyMap<string, PseudoName> = new Map([
  [':method', 'method'],
  [':scheme', 'scheme'],
  [':authority', 'authority'],
  [':path', 'path'],
  [':protocol', 'protocol'],
])

export function readRequestFields(fields: readonly HeaderField[]): RequestFields {
  const collected: Collected = {
    method: undefined,
    scheme: undefined,
    authority: undefined,
    path: undefined,
    protocol: undefined,
    lines: '',
    hasLength: false,
    cookie: '',
    isPastPseudo: false,
  }
  for (const field of fields) {
    const reading = readingOf(field)
    if (reading.kind === 'pseudo') takePseudo(collected, field)
    else takeField(collected, field, reading)
  }
  // Crumbs of one cookie (RFC 9113 section 8.2.3).
  if (collected.cookie !== '') collected.lines += `cookie: ${collected.cookie}\r\n`
  checkPseudo(collected)
  return collected
}

export function trailerLines(fields: readonly HeaderField[]): string {
  let lines = ''
  for (const field of fields) {
    const { kind, line } = readingOf(field)
    if (kind !== 'plain' || isForbiddenTrailer(field.name)) throw malformed(`${field.name} may not be a trailer`)
    lines += line
  }
  return lines
}

function takePseudo(collected: Collected, { name, value }: HeaderField): void {
  const part = pseudoNames.get(name)
  if (part === undefined) throw malformed(`${name} is not known in a request`)
  if (collected.isPastPseudo) throw malformed(`${name} stands behind other fields`)
  if (collected[part] !== undefined) throw malformed(`${name} is repeated`)
  if (!pseudoChecks[part](value)) throw malformed(`the value of ${name} is not allowed`)
  collected[part] = value
}

function takeField(collected: Collected, field: HeaderField, { kind, line }: FieldReading): void {
  collected.isPastPseudo = true
  if (kind === 'cookie') {
    collected.cookie += collected.cookie === '' ? field.value : `; ${field.value}`
    return
  }
  if (kind === 'host' && collected.authority !== undefined) {
    if (field.value.toLowerCase() !== collected.authority.toLowerCase()) throw malformed(':authority and host differ')
    return
  }
  if (kind === 'content-length') collected.hasLength = true
  collected.lines += line
}

/** RFC 9113 section 8.3.1 and 8.5, RFC 8441 section 4. */
function checkPseudo({ method, scheme, path, authority, protocol }: RequestFields): void {
  if (method === undefined) throw malformed(':method is missing')
  const isPlainConnect = method === 'CONNECT' && protocol === undefined
  if (protocol !== undefined && method !== 'CONNECT') throw malformed(':protocol belongs to CONNECT')
  if (isPlainConnect ? scheme !== undefined || path !== undefined : scheme === undefined || path === undefined) {
    throw malformed(`${method} has not the pseudo fields it must have`)
  }
  if (method === 'CONNECT' && authority === undefined) throw malformed('CONNECT has no :authority')
}

function isAll(value: string, table: Uint8Array): boolean {
  return value !== '' && skipWhile(value, 0, table) === value.length
}
