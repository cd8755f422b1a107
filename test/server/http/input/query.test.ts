import { expect, test } from 'vitest'
import { createQueryReader } from '../../../../server/http/input/query.ts'
import { createChecker } from '../../../../server/http/input/validate.ts'
import { operationIds, operationOf } from '../../../../shared/operations/all.ts'

const filters = operationIds.flatMap((id) =>
  Object.entries(operationOf(id).query?.properties ?? {}).flatMap(([name, { type, maxItems }]) =>
    type === 'array' ? [{ id, name, maxItems }] : [],
  ),
)

test('every filter takes so many values and no more', () => {
  expect(filters.length).toBeGreaterThan(50)
  expect(filters.filter(({ maxItems }) => maxItems === undefined)).toEqual([])
})

test('values are counted whether they are joined by commas or each by itself', () => {
  const schema = operationOf('listKeyValue').query
  if (schema === undefined) throw new Error('There is no query')
  const [read, checker] = [createQueryReader(schema), createChecker(schema)]
  const values = Array.from({ length: 101 }, (_, at) => `v${at}`)
  for (const query of [values.map((value) => `name=${value}`).join('&'), `name=${values.join()}`])
    expect(checker.problemsOf(read(`http://localhost/?${query}`))).toEqual([{ path: '/name', message: 'must have at most 100 items' }])
})
