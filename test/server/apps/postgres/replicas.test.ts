import { expect, test } from 'vitest'
import { planReplicas } from '../../../../server/apps/postgres/replicas.ts'

const there = [{ name: 'one' }, { name: 'two' }]

test('names that are new are added, those that are left out removed', () => {
  expect(planReplicas([{ name: 'two' }, { name: 'three' }], there)).toEqual({
    added: [{ name: 'three' }],
    kept: [{ replica: { name: 'two' }, wanted: { name: 'two' } }],
    removed: [{ name: 'one' }],
  })
  expect(planReplicas([], there).removed).toEqual(there)
})

test('a name that stands there twice is told, and so are too many', () => {
  expect(() => planReplicas([{ name: 'a' }, { name: 'a' }], [])).toThrow('a stands there twice')
  expect(() =>
    planReplicas(
      Array.from({ length: 6 }, (_, index) => ({ name: `r${index}` })),
      [],
    ),
  ).toThrow('5 read replicas at most')
})
