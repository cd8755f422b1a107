import { describe, expect, test } from 'vitest'
import { linksTo, type Member, partings } from '../../../../server/apps/projects/moving/parted.ts'
import { hostsIn } from '../../../../shared/named-hosts.ts'

describe('a host is found', () => {
  test.each([
    ['in a URL', 'API', 'http://api:10000/v1', ['api']],
    ['in a URL without a port', 'API', 'grpc://api', ['api']],
    ['behind a password', 'DATABASE', 'postgres://me:pa55@db:5432/shop?sslmode=off', ['db']],
    ['behind a password with an at sign', 'DATABASE', 'postgres://me:p@55@db/shop', ['db']],
    ['in several URLs', 'PEERS', 'http://a, http://b:1/ {"c":"ws://c/x"}', ['a', 'b', 'c']],
    ['before a port', 'PEERS', 'api:10000,DB-2:5432', ['api', 'db-2']],
    ['in a list of settings', 'DSN', 'host=db port=5432 user=me', ['db']],
    ['as a whole value, where the key says so', 'API_HOST', 'api', ['api']],
    ['as a whole value, in whatever letter case', 'api_url', ' API ', ['api']],
    ['with its domain, which is another host', 'API', 'https://api.example.com/', ['api.example.com']],
  ])('%s', (_, key, value, hosts) => {
    expect(hostsIn({ key, value }).filter((host) => !host.includes(' ') && !host.includes(':') && !host.includes('/'))).toEqual(hosts)
  })

  test.each([
    ['a word of its own', 'NODE_ENV', 'api'],
    ['a password', 'PASSWORD', 'api'],
    ['a user of a URL', 'DATABASE', 'postgres://api:api@db/shop'],
    ['a path of a URL', 'API', 'http://db/api'],
    ['a word beside a number', 'TEXT', 'the api: 10000 things'],
  ])('but %s is none', (_, key, value) => {
    expect(hostsIn({ key, value })).not.toContain('api')
  })

  test('in the time of its length, whatever stands there', () => {
    for (const text of ['/', '//', '@', 'a', '//a@', 'host=', ':1', ' a:'])
      expect(hostsIn({ key: 'URL', value: text.repeat(200_000) })).toBeDefined()
  })
})

const member = (name: string, before: string, after: string, hosts = [name]): Member => ({
  id: `srv-${name}`,
  environmentId: null,
  name,
  hosts,
  before,
  after,
})

const named = (members: readonly Member[]) =>
  Object.fromEntries(partings(members).map(({ member: { name }, parted }) => [name, parted.map((other) => other.name).join()]))

describe('services are parted', () => {
  test('when one of a network goes to another', () => {
    expect(named([member('api', 'w', 'e'), member('web', 'w', 'w'), member('db', 'e', 'e')])).toEqual({ api: 'web', web: 'api' })
  })

  test('and not when they go together', () => {
    expect(named([member('api', 'w', 'e'), member('web', 'w', 'e')])).toEqual({})
  })

  test('into as many parts as there are networks', () => {
    expect(named([member('a', 'w', 'e'), member('b', 'w', 'f'), member('c', 'w', 'w')])).toEqual({ a: 'b,c', b: 'a,c', c: 'a,b' })
  })

  test('and not from what could not be reached by a name', () => {
    expect(named([member('worker', 'w', 'e', []), member('web', 'w', 'w')])).toEqual({ worker: 'web' })
  })

  test('and never by coming together', () => {
    expect(named([member('a', 'e', 'w'), member('b', 'f', 'w'), member('c', 'w', 'w')])).toEqual({})
  })
})

test('a link is told once, by the first variable that names the other', () => {
  const [web, api] = [member('web', 'w', 'w'), member('api', 'w', 'e', ['api-1x2y', 'api'])]
  const variables = [
    { key: 'NAME', value: 'api' },
    { key: 'API', value: 'http://api-1x2y:10000' },
    { key: 'API_URL', value: 'http://api/v2' },
  ]
  expect(linksTo(web, [api], variables)).toEqual([{ user: web, key: 'API', used: api }])
})

test('a variable that has a datastore say its value leads to it', () => {
  const web = member('web', 'w', 'w')
  const shop = { ...member('shop', 'w', 'e'), id: 'dpg-1', hosts: ['dpg-1'] }
  expect(linksTo(web, [shop], [{ key: 'PGHOST', value: '', from: { datastoreId: 'dpg-1', property: 'host' } }])).toEqual([
    { user: web, key: 'PGHOST', used: shop },
  ])
  expect(linksTo(web, [shop], [{ key: 'URL', value: 'postgres://u:p@dpg-1:5432/app' }])).toMatchObject([{ key: 'URL' }])
  expect(linksTo(web, [shop], [{ key: 'URL', value: 'postgres://u:p@dpg-1.example.com/app' }])).toEqual([])
})
