import { type TSchema, Type } from '@sinclair/typebox'

/**
 * Go clients write null for what they leave out, a list without items included. So null stands for absent where a field of a body
 * may be absent, and for an empty list where it may not; where a schema has a meaning of its own for null, that holds.
 */

/** `value` without the nulls that mean absent or empty by `schema`; whatever else is wrong with it stays. */
export function withoutNulls(schema: TSchema, value: unknown): unknown {
  const inner = soleForm(schema)
  if (inner.type === 'array') {
    if (value === null && !acceptsNull(schema)) return []
    return Array.isArray(value) ? value.map((item) => (item === null ? item : withoutNulls(inner.items as TSchema, item))) : value
  }
  if (!isRecord(value) || !isRecord(inner.properties)) return value
  const required = new Set((inner.required ?? []) as string[])
  const properties = inner.properties as Record<string, TSchema>
  const kept = Object.entries(value).flatMap(([key, held]) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (property === undefined) return [[key, held]]
    const isAbsent = held === null && !required.has(key) && !acceptsNull(property)
    return isAbsent ? [] : [[key, withoutNulls(property, held)]]
  })
  return Object.fromEntries(kept)
}

/** The schema of what may be sent: that of a body with null allowed wherever `withoutNulls` takes it for absent or empty. */
export function acceptingNulls(schema: TSchema): TSchema {
  return schema.type === 'array' && !schema.minItems ? orNull(innerForm(schema)) : innerForm(schema)
}

function innerForm(schema: TSchema): TSchema {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: (schema.anyOf as TSchema[]).map(innerForm) }
  if (schema.type === 'array') return { ...schema, items: innerForm(schema.items as TSchema) }
  if (!isRecord(schema.properties)) return schema
  const required = new Set((schema.required ?? []) as string[])
  const properties = Object.entries(schema.properties as Record<string, TSchema>).map(([key, property]) => {
    if (required.has(key)) return [key, acceptingNulls(property)]
    return [key, acceptsNull(property) ? innerForm(property) : orNull(innerForm(property))]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

const orNull = (schema: TSchema): TSchema =>
  Array.isArray(schema.anyOf) ? { ...schema, anyOf: [...schema.anyOf, Type.Null()] } : Type.Union([schema, Type.Null()])

/** Whether a schema takes null itself; one without a type takes everything. */
function acceptsNull(schema: TSchema): boolean {
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as TSchema[]).some(acceptsNull)
  return schema.type === 'null' || (schema.type === undefined && schema.const === undefined)
}

/** What a value that is not null is to look like, where there is one form only. */
function soleForm(schema: TSchema): TSchema {
  if (!Array.isArray(schema.anyOf)) return schema
  const [only, ...others] = (schema.anyOf as TSchema[]).filter(({ type }) => type !== 'null')
  return only !== undefined && others.length === 0 ? only : schema
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
