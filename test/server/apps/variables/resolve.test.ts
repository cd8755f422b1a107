import { expect, test } from 'vitest'
import type { LookUp } from '../../../../server/apps/variables/references.ts'
import { ownPart } from '../../../../server/apps/variables/release-secrets.ts'
import { type Layer, resolveVariables } from '../../../../server/apps/variables/resolve.ts'

const nothing = { given: new Map(), lookUp: () => ({ problem: 'refers to nothing' }) }

const own = (variables: Layer['variables']): Layer => ({ source: { type: 'service' }, variables })
const group = (name: string, variables: Layer['variables']): Layer => ({ source: { type: 'group', id: `evg-${name}`, name }, variables })
const named = ({ type, name }: Layer['source']) => name ?? type

test("a service's own variable wins over its groups, and a later group over an earlier one", () => {
  const layers = [
    own([{ key: 'A', value: 'own' }]),
    group('late', [
      { key: 'A', value: 'late' },
      { key: 'B', value: 'late' },
    ]),
    group('early', [
      { key: 'C', value: 'early' },
      { key: 'B', value: 'early' },
      { key: 'A', value: 'early' },
    ]),
  ]
  expect(
    resolveVariables(layers, nothing).map(({ key, value, source, hides }) => [key, value, named(source), ...hides.map(named)]),
  ).toEqual([
    ['A', 'own', 'service', 'late', 'early'],
    ['B', 'late', 'late', 'early'],
    ['C', 'early', 'early'],
  ])
})

test('references see what has won, wherever they stand', () => {
  const layers = [
    own([{ key: 'HOST', value: 'mine' }]),
    group('db', [
      { key: 'HOST', value: 'shared' },
      { key: 'URL', value: 'pg://${HOST}', interpolate: true },
      { key: 'LITERAL', value: '${HOST}' },
    ]),
  ]
  const values = Object.fromEntries(resolveVariables(layers, nothing).map(({ key, value }) => [key, value]))
  expect(values).toEqual({ HOST: 'mine', URL: 'pg://mine', LITERAL: '${HOST}' })
})

test('only a marked variable that has won can be wrong', () => {
  const layers = [own([{ key: 'A', value: 'fine' }]), group('g', [{ key: 'A', value: '${A}', interpolate: true }])]
  expect(resolveVariables(layers, nothing)).toMatchObject([{ key: 'A', value: 'fine' }])
  expect(resolveVariables(layers.slice(1), nothing)).toMatchObject([{ key: 'A', value: '', problem: 'stands in a circle: A → A' }])
})

test('what a datastore says can be put into other variables, and a reference that comes to nothing says why', () => {
  const variables: Layer['variables'] = [
    { key: 'DATABASE_URL', value: '', from: { datastoreId: 'dpg-1-a', property: 'connectionString' } },
    { key: 'GONE', value: '', from: { datastoreId: 'dpg-2-a', property: 'host' } },
    { key: 'POOLED', value: '${DATABASE_URL}?pool=5', interpolate: true },
    { key: 'BROKEN', value: '${GONE}', interpolate: true },
  ]
  const lookUp: LookUp = ({ datastoreId }) =>
    datastoreId === 'dpg-1-a' ? { value: 'postgresql://${NO}' } : { problem: 'refers to the database dpg-2-a, which is gone' }
  const found = resolveVariables([own(variables)], { given: new Map(), lookUp })
  expect(Object.fromEntries(found.map(({ key, value, problem }) => [key, problem ?? value]))).toEqual({
    DATABASE_URL: 'postgresql://${NO}',
    GONE: 'refers to the database dpg-2-a, which is gone',
    POOLED: 'postgresql://${NO}?pool=5',
    BROKEN: 'refers to GONE, which refers to the database dpg-2-a, which is gone',
  })
})

test("what a rollback puts back is the service's own part of a release, references unresolved", () => {
  const release = {
    envVars: [
      { key: 'OWN', value: '1' },
      { key: 'URL', value: 'pg://host', raw: 'pg://${HOST}' },
      { key: 'HOST', value: 'host', groupId: 'evg-a' },
    ],
    secretFiles: [
      { name: 'a.pem', content: 'own' },
      { name: 'b.pem', content: 'shared', groupId: 'evg-a' },
    ],
  }
  expect(ownPart(release)).toEqual({
    envVars: [
      { key: 'OWN', value: '1' },
      { key: 'URL', value: 'pg://${HOST}', interpolate: true },
    ],
    secretFiles: [{ name: 'a.pem', content: 'own' }],
  })
})
