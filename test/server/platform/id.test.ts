import { expect, test } from 'vitest'
import { newId, newInstanceId } from '../../../server/platform/id.ts'
import { type IdKind, idPattern, idPrefix, instanceIdPattern } from '../../../shared/id.ts'

test('ids of every kind have their prefix and 20 characters', () => {
  for (const kind of Object.keys(idPrefix) as IdKind[]) expect(newId(kind)).toMatch(new RegExp(idPattern(kind)))
})

test('each id is greater than the one before, within a millisecond and when the clock goes back', () => {
  const now = Date.now() + 3_600_000
  const ids = Array.from({ length: 5000 }, (_, index) => newId('deploy', index % 7 === 0 ? now - 60_000 : now))
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

test('two ids share no random part', () => {
  const tails = Array.from({ length: 2000 }, () => newId('event').slice(-12))
  expect(new Set(tails).size).toBe(tails.length)
})

test('an instance carries the id of its service', () => {
  const service = newId('service')
  const instance = newInstanceId(service)
  expect(instance).toMatch(new RegExp(instanceIdPattern))
  expect(instance.startsWith(`${service}-`)).toBe(true)
})
