import { expect, test } from 'vitest'
import { type ListeningOwner, linksOf } from '../../../../server/apps/private-network/links.ts'

const service = (name: string, changes: Partial<ListeningOwner> = {}): ListeningOwner => ({
  kind: 'service',
  id: `srv-${name}`,
  workspaceId: 'tea-a',
  name,
  slug: `${name}-x1`,
  uid: 1,
  instanceIds: [],
  ...changes,
})
const namesOf = (services: ListeningOwner[]) => linksOf(services).map(({ names }) => names)

test('a service is reached by its slug first, and by its plain name', () => {
  expect(namesOf([service('Mein Äpp', { slug: 'mein-app-2' })])).toEqual([['mein-app-2', 'mein-app']])
  expect(namesOf([service('api', { slug: 'api' })])).toEqual([['api']])
})

test('a plain name that two services of a workspace share is nobody’s', () => {
  const both = [service('My API', { slug: 'my-api-1' }), service('my api', { slug: 'my-api-2' })]
  expect(namesOf(both)).toEqual([['my-api-1'], ['my-api-2']])
})

test('a plain name that is the slug of another is the other’s', () => {
  expect(namesOf([service('api', { slug: 'api-2' }), service('other', { slug: 'api' })])).toEqual([['api-2'], ['api', 'other']])
})

test('the same name in another workspace is no matter', () => {
  const other = service('api', { workspaceId: 'tea-b', slug: 'api-3' })
  expect(linksOf([service('api'), other]).map(({ owner, names }) => [owner.workspaceId, ...names])).toEqual([
    ['tea-a', 'api-x1', 'api'],
    ['tea-b', 'api-3', 'api'],
  ])
})
