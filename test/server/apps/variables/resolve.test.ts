import { expect, test } from 'vitest'
import { ownPart } from '../../../../server/apps/variables/release-secrets.ts'
import { type Layer, resolveVariables } from '../../../../server/apps/variables/resolve.ts'

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
    resolveVariables(layers, new Map()).map(({ key, value, source, hides }) => [key, value, named(source), ...hides.map(named)]),
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
  const values = Object.fromEntries(resolveVariables(layers, new Map()).map(({ key, value }) => [key, value]))
  expect(values).toEqual({ HOST: 'mine', URL: 'pg://mine', LITERAL: '${HOST}' })
})

test('only a marked variable that has won can be wrong', () => {
  const layers = [own([{ key: 'A', value: 'fine' }]), group('g', [{ key: 'A', value: '${A}', interpolate: true }])]
  expect(resolveVariables(layers, new Map())).toMatchObject([{ key: 'A', value: 'fine' }])
  expect(resolveVariables(layers.slice(1), new Map())).toMatchObject([{ key: 'A', value: '', problem: 'stands in a circle: A → A' }])
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
