import type { TSchema } from '@sinclair/typebox'
import { exampleOf } from '../../server/api/docs/schema.ts'

/** Bodies made of the example of `schema`, with `payload` in one string field after the other, however deep. */
export function bodiesWith(schema: TSchema, payload: string): unknown[] {
  return variants(schema, exampleOf(schema), payload)
}

function variants(schema: TSchema, example: unknown, payload: string): unknown[] {
  if (schema.type === 'string' || schema['x-unsupported'] === true) return [payload]
  if (Array.isArray(schema.anyOf)) {
    const within = (schema.anyOf as TSchema[]).filter(({ type }) => type === 'object' || type === 'array')
    return [payload, ...within.flatMap((one) => variants(one, exampleOf(one), payload))]
  }
  if (schema.type === 'array') return variants(schema.items as TSchema, exampleOf(schema.items as TSchema), payload).map((item) => [item])
  if (schema.type !== 'object') return [payload]
  const base = isRecord(example) ? example : {}
  const properties = Object.entries((schema.properties ?? {}) as Record<string, TSchema>)
  return [
    ...properties.flatMap(([key, property]) =>
      variants(property, exampleOf(property), payload).map((value) => ({ ...base, [key]: value })),
    ),
    { ...base, [payload]: payload },
  ]
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
