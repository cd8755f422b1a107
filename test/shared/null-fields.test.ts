import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { describe, expect, test } from 'vitest'
import { exampleOf } from '../../server/api/docs/schema.ts'
import { createChecker } from '../../server/http/input/validate.ts'
import { acceptingNulls, withoutNulls } from '../../shared/null-fields.ts'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'

const Inner = Type.Object({ plan: Type.Optional(Type.String()), list: Type.Optional(Type.Array(Type.String())) })
const Body = Type.Object({
  name: Type.String(),
  files: Type.Array(Inner),
  note: Type.Optional(Type.String()),
  end: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  disk: Type.Optional(Type.Union([Inner, Type.Null()])),
  path: Type.Optional(Type.Union([Type.String(), Type.Literal('')])),
  inner: Type.Optional(Inner),
  anything: Type.Optional(Type.Unknown()),
})

describe('null', () => {
  test.each([
    ['is absent where a field may be absent', { name: 'a', files: [], note: null, inner: null, path: null }, { name: 'a', files: [] }],
    ['is no items where a list is needed', { name: 'a', files: null }, { name: 'a', files: [] }],
    ['is looked for in objects and lists', { files: [{ plan: null, list: null }], inner: { list: null } }, { files: [{}], inner: {} }],
    ['is looked for in what may be null itself', { disk: { plan: null } }, { disk: {} }],
    ['stays where it means something', { end: null, disk: null, anything: null }, { end: null, disk: null, anything: null }],
    ['stays where a value is needed, to be refused', { name: null }, { name: null }],
    ['stays under a name that is not known, to be refused', { other: null }, { other: null }],
    ['stays among the items of a list, to be refused', { inner: { list: [null] } }, { inner: { list: [null] } }],
  ])('%s', (_, sent, taken) => {
    expect(withoutNulls(Body, sent)).toEqual(taken)
  })

  test('is no items as a whole body that is a list', () => {
    expect(withoutNulls(Type.Array(Inner), null)).toEqual([])
  })

  test('is no object as a whole body', () => {
    expect(withoutNulls(Body, null)).toBeNull()
  })
})

const withBody = operationIds.filter((id) => operationOf(id).body !== undefined)

test.each(withBody)('%s: what is taken is what is documented, with null in place of each field', (id: OperationId) => {
  const body = operationOf(id).body as TSchema
  const isTaken = createChecker(body)
  const documented = acceptingNulls(body)
  for (const sent of [exampleOf(body), null, ...nulled(body, exampleOf(body))]) {
    expect({ sent, taken: isTaken.accepts(withoutNulls(body, sent)) }).toEqual({ sent, taken: Value.Check(documented, sent) })
  }
})

/** The value with null in place of each property of the schema, one at a time and one level deep. */
function nulled(schema: TSchema, value: unknown): unknown[] {
  if (schema.type === 'array') return nulled(schema.items as TSchema, (value as unknown[])[0]).map((item) => [item])
  const properties = Object.entries((schema.properties ?? {}) as Record<string, TSchema>)
  const held = value as Record<string, unknown>
  return properties.flatMap(([key, property]) => [
    { ...held, [key]: null },
    ...(property.type === 'object' ? nulled(property, {}).map((inner) => ({ ...held, [key]: inner })) : []),
  ])
}
