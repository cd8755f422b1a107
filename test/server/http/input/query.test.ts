import { expect, test } from 'vitest'
import { createQueryReader } from '../../../../server/http/input/query.ts'
import { createChecker } from '../../../../server/http/input/validate.ts'
import { operationIds, operationOf } from '../../../../shared/operations/all.ts'

const lists = operationIds.flatMap((id) =>
  Object.entries(operationOf(id).query?.properties ?? {}).flatMap(([name, { type }]) => (type === 'array' ? [{ id, name }] : [])),
)

test('every filter takes so many values and no more, joined by commas or each by itself', () => {
  expect(lists.length).toBeGreaterThan(50)
  for (const { id, name } of lists) {
    const schema = operationOf(id).query
    if (schema === undefined) continue
    const [read, checker] = [createQueryReader(schema), createChecker(schema)]
    const values = Array.from({ length: 101 }, (_, at) => `v${at}`)
    for (const query of [values.map((value) => `${name}=${value}`).join('&'), `${name}=${values.join()}`]) {
      const problems = checker.problemsOf(read(`http://localhost/?${query}`)).filter(({ message }) => message.includes('at most'))
      expect({ id, name, problems }).toEqual({
        id,
        name,
        problems: [{ path: `/${name}`, message: expect.stringMatching(/^must have at most/) }],
      })
    }
  }
})
