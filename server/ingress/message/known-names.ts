const names = [
  'connection',
  'content-length',
  'date',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'referer',
  'te',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
  'x-request-id',
] as const

export type KnownName = (typeof names)[number]

const namesOfLength: readonly (readonly KnownName[])[] = Array.from(
  { length: 1 + Math.max(...names.map(({ length }) => length)) },
  (_, length) => names.filter((name) => name.length === length),
)

export function knownName(head: string, from: number, to: number): KnownName | undefined {
  const candidates = namesOfLength[to - from]
  if (candidates === undefined) return undefined
  for (const name of candidates) if (spells(head, from, name)) return name
  return undefined
}

const A = 65
const Z = 90
const TO_LOWER_CASE = 32

export function spells(head: string, from: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = head.charCodeAt(from + at)
    const lower = code >= A && code <= Z ? code + TO_LOWER_CASE : code
    if (lower !== name.charCodeAt(at)) return false
  }
  return true
}
