import { type TSchema, Type } from '@sinclair/typebox'

/** A string out of a closed list, shown in the OpenAPI document as an enum. */
export const OneOf = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...(description ? { description } : {}) })

/** The error may repeat what was sent in place of one of these: nobody would put a secret there. */
export const ToldOneOf = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], 'x-told': true })

/** What a person sees as it is: no control, bidirectional, zero-width or separator character. JSON Schema has no `\\p{…}`. */
export const visibleChar = '[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]'

export const Time = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'RFC 3339, UTC, milliseconds',
  examples: ['2026-01-31T09:30:00.000Z'],
})

export const TimeInput = Type.String({
  maxLength: 40,
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$',
  format: 'date-time',
  description: 'RFC 3339 time',
  examples: ['2026-01-31T09:30:00Z'],
})

/** A body that refuses every key it does not name. */
export const StrictObject = <T extends Record<string, TSchema>>(
  properties: T,
  options: { description?: string; examples?: unknown[] } = {},
) => Type.Object(properties, { additionalProperties: false, ...options })

/** A field of Render's API that is not supported: accepted while it is `""`, `null`, `false`, `{}`, `[]` or one of `neutral`. */
export const Unsupported = (...neutral: unknown[]) =>
  Type.Optional(Type.Unknown({ 'x-unsupported': true, 'x-neutral': neutral, description: 'Accepted only with its neutral value' }))

/** JSON pointers of the unsupported fields of `schema` that hold more than their neutral value in `value`. */
export function unsupportedFields(schema: TSchema, value: unknown, path = ''): string[] {
  if (Array.isArray(value) && isRecord(schema.items)) {
    const item = schema.items as TSchema
    return value.flatMap((one, index) => unsupportedFields(item, one, `${path}/${index}`))
  }
  if (!isRecord(value) || !isRecord(schema.properties)) return []
  const properties = schema.properties as Record<string, TSchema>
  return Object.entries(value).flatMap(([key, held]) => {
    const property = properties[key]
    if (property === undefined) return []
    const pointer = `${path}/${key}`
    if (property['x-unsupported'] === true) return isNeutral(held, property['x-neutral'] as unknown[]) ? [] : [pointer]
    return unsupportedFields(property, held, pointer)
  })
}

function isNeutral(value: unknown, neutral: unknown[]): boolean {
  if (value === '' || value === null || value === false) return true
  if (Array.isArray(value)) return value.length === 0 || matchesAny(value, neutral)
  if (isRecord(value)) return Object.values(value).every((inner) => isNeutral(inner, [])) || matchesAny(value, neutral)
  return matchesAny(value, neutral)
}

const matchesAny = (value: unknown, candidates: unknown[]): boolean => candidates.some((c) => JSON.stringify(c) === JSON.stringify(value))

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Items of a page: when nobody says how many, and at most. Logs and the audit log count their lines and entries alike. */
export const pageItems = { default: 20, most: 100 }

/** Query of every list: how many, and strictly after which item. Larger limits are clamped, not refused. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `How many items, 1 to ${pageItems.most}; larger is clamped`,
      default: pageItems.default,
      examples: [pageItems.default],
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: 'Only items strictly after the one this cursor came with' })),
}

/** A filter that takes several values, comma-joined or repeated. */
export const Many = <T extends TSchema>(item: T) => Type.Optional(Type.Array(item, { maxItems: 100 }))

/** A filter by paths, as many and as long as a head has room for. */
export const Paths = (description: string) => Type.Optional(Type.Array(Type.String({ maxLength: 1024, description }), { maxItems: 20 }))

/** A page of a list: each item wrapped under its own name beside its cursor. */
export const PageOf = <const N extends string, T extends TSchema>(name: N, item: T) =>
  Type.Array(Type.Object({ [name]: item, cursor: Type.String() } as { [K in N]: T } & { cursor: ReturnType<typeof Type.String> }))
