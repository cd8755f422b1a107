import type { AuditEntry } from '../../shared/audit.ts'

/** What an entry says beside who, when, what and on what, on one line: what changed, else what was asked for; why, where it was refused. */
export function detailsOf({ status, target, metadata }: AuditEntry): string {
  return status === 'error' ? refusalIn(metadata) : factsIn(metadata, target)
}

function refusalIn({ operation, operations, message, reason, repeats, ...rest }: Record<string, unknown>): string {
  const asked = Array.isArray(operations) ? operations.join(', ') : String(operation ?? '')
  const why = message ?? reason
  if (asked === '' || why === undefined) return fieldsOf(rest)
  return repeats === undefined ? `${asked}: ${why}` : `${asked}: ${why} (and ${repeats} more)`
}

function factsIn({ operation: _, request, changes, removed, ...noted }: Record<string, unknown>, target: string | undefined): string {
  const told =
    changes !== undefined ? changesOf(changes) : fieldsOf(removed === undefined ? unlike(request, noted, target) : named(removed))
  return [told, fieldsOf(noted)].filter((text) => text !== '').join(' ')
}

const changesOf = (changes: unknown): string =>
  fieldEntries(changes)
    .map(([name, change]) => {
      const { before, after } = Object.fromEntries(fieldEntries(change))
      return `${name}: ${textOf(before)} → ${textOf(after)}`
    })
    .join(', ') || 'nothing changed'

/** The fields of a request that tell something: neither hidden, nor the target, nor among what was noted. */
const unlike = (request: unknown, noted: Record<string, unknown>, target: string | undefined): Record<string, unknown> =>
  Object.fromEntries(fieldEntries(request).filter(([name, value]) => value !== '[hidden]' && value !== target && !(name in noted)))

/** People knew a deleted resource by its name, which nobody can look up any more. */
const named = (removed: unknown): Record<string, unknown> =>
  Object.fromEntries(fieldEntries(removed).filter(([name]) => ['name', 'email', 'role'].includes(name)))

const fieldsOf = (fields: Record<string, unknown>): string =>
  Object.entries(fields)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}=${textOf(value)}`)
    .join(' ')

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'unset'
  if (Array.isArray(value)) return value.map(textOf).join(',')
  if (typeof value !== 'object') return String(value)
  // A scope is what it names, as people say it.
  if ('serviceIds' in value) return textOf(Object.values(value).flat())
  const fields = fieldEntries(value)
  const [only] = fields
  return fields.length === 1 && only !== undefined ? textOf(only[1]) : JSON.stringify(value)
}

const fieldEntries = (value: unknown): [string, unknown][] => (typeof value === 'object' && value !== null ? Object.entries(value) : [])
