import { expect, test } from 'vitest'
import { linksOf, type Member } from '../../../../server/apps/private-network/links.ts'
import { networkName } from '../../../../server/apps/private-network/names/network.ts'

const service = (name: string, changes: Partial<Member> = {}): Member => ({
  id: `srv-${name}`,
  number: 1,
  network: 'tea-a',
  name,
  slug: `${name}-x1`,
  listens: true,
  instanceIds: [],
  ...changes,
})
const namesOf = (services: Member[]) => linksOf(services).map(({ names }) => names)

test('a service is reached by its slug first, and by its plain name', () => {
  expect(namesOf([service('Mein Äpp', { slug: 'mein-app-2' })])).toEqual([['mein-app-2', 'mein-app']])
  expect(namesOf([service('api', { slug: 'api' })])).toEqual([['api']])
})

test('a plain name that two services of a network share is nobody’s', () => {
  const both = [service('My API', { slug: 'my-api-1' }), service('my api', { slug: 'my-api-2' })]
  expect(namesOf(both)).toEqual([['my-api-1'], ['my-api-2']])
})

test('a plain name that is the slug of another is the other’s', () => {
  expect(namesOf([service('api', { slug: 'api-2' }), service('other', { slug: 'api' })])).toEqual([['api-2'], ['api', 'other']])
})

test('the same name in another network is no matter', () => {
  const other = service('api', { network: 'tea-b', slug: 'api-3' })
  expect(linksOf([service('api'), other]).map(({ network, names }) => [network, ...names])).toEqual([
    ['tea-a', 'api-x1', 'api'],
    ['tea-b', 'api-3', 'api'],
  ])
})

test('what listens nowhere is in a network, has no name there, and leaves names to others', () => {
  const worker = service('api', { id: 'srv-worker', slug: 'api-9', listens: false })
  expect(namesOf([service('api'), worker])).toEqual([['api-x1', 'api'], []])
})

test('an isolated environment is a network of its own, any other is part of its workspace', () => {
  expect(networkName({ workspaceId: 'tea-a', environmentId: 'evm-1', isIsolated: true })).toBe('evm-1')
  expect(networkName({ workspaceId: 'tea-a', environmentId: 'evm-1', isIsolated: false })).toBe('tea-a')
  expect(networkName({ workspaceId: 'tea-a', environmentId: null, isIsolated: false })).toBe('tea-a')
})

test('no service takes the id of a datastore for its name', () => {
  const id = 'red-0b1c2d3e4f5g6h7i8j9k'
  const store: Member = { ...service('x'), id, name: id, slug: id }
  expect(namesOf([store, service('other', { slug: id }), service('Red 0b1c2d3e4f5g6h7i8j9k', { slug: 'b' })])).toEqual([
    [id],
    ['other'],
    ['b'],
  ])
})
