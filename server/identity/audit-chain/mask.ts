import type { TSchema } from '@sinclair/typebox'

export const HIDDEN = '[hidden]'

const secretName =
  /pass(word|phrase|wd)|secret|token|otp\b|^(otp|code|codes|value|content|command|pem|certificate)$|(private|api|access|signing|encryption).?key|credential|authorization|cookie|recovery|(device|user).?code|verifier|nonce|_?hash$/i
const urlCredentials = /([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/gi

const MAX_TEXT_CHARS = 500
const MAX_ITEMS = 100
const MAX_DEPTH = 8

const secret = Symbol('secret')

interface Secret {
  [secret]: unknown
}

/** A value that is compared, and never shown: whether it changed may be told, not what it is. */
export const hidden = (value: unknown): Secret => ({ [secret]: value })

export const isHidden = (value: unknown): value is Secret => typeof value === 'object' && value !== null && secret in value

export const insideOf = (value: Secret): unknown => value[secret]

/** Leaves out what a schema marks as `x-secret`, what is named like a secret, and what is too long. */
export function masked(value: unknown, schema?: TSchema): unknown {
  return maskedAt(value, { name: '', schema, depth: 0 })
}

interface Place {
  name: string
  schema: TSchema | undefined
  depth: number
}

function maskedAt(value: unknown, place: Place): unknown {
  if (isHidden(value) || place.schema?.['x-secret'] === true) return value === undefined ? undefined : HIDDEN
  if (Array.isArray(value)) return list(value, place)
  if (typeof value === 'object' && value !== null) return record(value, place)
  if (value === undefined || value === null || value === '' || typeof value === 'boolean') return value
  if (secretName.test(place.name)) return HIDDEN
  return typeof value === 'string' ? text(value) : value
}

function list(items: readonly unknown[], { name, schema, depth }: Place): unknown {
  if (depth >= MAX_DEPTH) return '[…]'
  const kept = items
    .slice(0, MAX_ITEMS)
    .map((item) => maskedAt(item, { name, schema: schema?.items as TSchema | undefined, depth: depth + 1 }))
  return items.length > MAX_ITEMS ? [...kept, `… and ${items.length - MAX_ITEMS} more`] : kept
}

function record(value: object, { schema, depth }: Place): unknown {
  if (depth >= MAX_DEPTH) return '{…}'
  const properties = (schema?.properties ?? {}) as Record<string, TSchema>
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [name, maskedAt(held, { name, schema: properties[name], depth: depth + 1 })]),
  )
}

function text(value: string): string {
  const clean = value.replace(urlCredentials, `$1${HIDDEN}@`)
  return clean.length > MAX_TEXT_CHARS ? `${clean.slice(0, MAX_TEXT_CHARS)}… (${clean.length} characters)` : clean
}
