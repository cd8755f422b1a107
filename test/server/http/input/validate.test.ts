import { Type } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import { createChecker } from '../../../../server/http/input/validate.ts'
import { OneOf, StrictObject, Unsupported } from '../../../../shared/schema.ts'

const checker = createChecker(
  StrictObject({
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 5, pattern: '^[a-z]*$', examples: ['web'] })),
    kind: Type.Optional(OneOf(['a', 'b'])),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 1 })),
    inner: Type.Optional(StrictObject({ isOn: Type.Boolean() })),
    disk: Unsupported(),
    filter: Type.Optional(Type.Union([Type.Array(OneOf(['a', 'b'])), Type.Null()])),
    either: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
  }),
)

test.each([
  [{ count: 0 }, '/count', 'must be at least 1'],
  [{ count: 101 }, '/count', 'must be at most 100'],
  [{ count: '2' }, '/count', 'must be a whole number'],
  [{ name: '' }, '/name', 'must not be empty'],
  [{ name: 'longer' }, '/name', 'must have at most 5 characters'],
  [{ name: 'Web' }, '/name', 'does not have the form wanted here, such as "web"'],
  [{ name: 1 }, '/name', 'must be a string'],
  [{ kind: 'c' }, '/kind', 'must be one of a, b'],
  [{ tags: ['x', 'y'] }, '/tags', 'must have at most 1 items'],
  [{ tags: 'x' }, '/tags', 'must be an array'],
  [{ inner: [] }, '/inner', 'must be an object'],
  [{ inner: {} }, '/inner/isOn', 'is required'],
  [{ inner: { isOn: 1 } }, '/inner/isOn', 'must be true or false'],
  [{ nmae: 'web' }, '/nmae', 'is not a known field; remove it or check its spelling'],
  [{ filter: ['a', 'c'] }, '/filter/1', 'must be one of a, b'],
  [{ filter: 'a' }, '/filter', 'must be an array'],
  [{ either: true }, '/either', 'has none of the forms accepted here'],
  [{ disk: { sizeGB: 1 } }, '/disk', 'is not supported by this server; leave it out'],
])('%j is refused with what it must be', (value, path, message) => {
  expect(checker.problemsOf(value)).toEqual([{ path, message }])
})
