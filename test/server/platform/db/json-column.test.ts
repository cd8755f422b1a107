import { Type } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import { json } from '../../../../server/platform/db/json-column.ts'

const Names = Type.Object({ names: Type.Array(Type.String()) })
const fromList = (value: unknown) => ({ list: value })
const fromObject = (value: unknown) => ({ names: (value as { list: string[] }).list })

const unchanged = json({ schema: Names })
const changedTwice = json({ schema: Names, upgrades: [fromList, fromObject] })

test('a shape that never changed is kept without a version', () => {
  expect(unchanged.write({ names: ['a'] })).toBe('{"names":["a"]}')
  expect(unchanged.read('{"names":["a"]}')).toEqual({ names: ['a'] })
})

test('a text goes through the upgrades that came after it', () => {
  expect(changedTwice.read('["a"]')).toEqual({ names: ['a'] })
  expect(changedTwice.read('{"v":1,"list":["a"]}')).toEqual({ names: ['a'] })
  expect(changedTwice.read('{"v":2,"names":["a"]}')).toEqual({ names: ['a'] })
})

test('a shape that has changed is kept with its version', () => {
  expect(changedTwice.write({ names: ['a'] })).toBe('{"v":2,"names":["a"]}')
})

test('a text that lacks what came later gets the defaults', () => {
  const Sized = Type.Object({ size: Type.Number(), unit: Type.String() })
  const codec = json({ schema: Sized, defaults: { unit: 'MB' } })
  expect(codec.read('{"size":1}')).toEqual({ size: 1, unit: 'MB' })
  expect(codec.read('{"size":1,"unit":"GB"}')).toEqual({ size: 1, unit: 'GB' })
  expect(() => codec.read('{}')).toThrow('/size')
})

test('a text of a newer version is refused', () => {
  expect(() => changedTwice.read('{"v":3,"names":[]}')).toThrow('is of version 3, this executable knows only version 2')
})

test('what does not fit the schema is refused with its place', () => {
  expect(() => unchanged.read('{"names":[1]}')).toThrow('/names/0: Expected string')
  expect(() => unchanged.read('{')).toThrow(SyntaxError)
  expect(() => unchanged.read(null)).toThrow('is no text')
})

test('remembered values are shared and cannot be changed', () => {
  const codec = json({ schema: Names, remembered: 10 })
  const value = codec.read('{"names":[]}')
  expect(codec.read('{"names":[]}')).toBe(value)
  expect(() => {
    value.names = []
  }).toThrow(TypeError)
})
