import { describe, expect, test } from 'vitest'
import { decideWanted, type WantedInput } from '../../../../server/edge/certificates/wanted.ts'
import { covers, isCertifiable } from '../../../../server/edge/certificates/x509/names.ts'

const host = (name: string, serviceId: string | null = 'srv-1') => ({ host: name, serviceId })
const base: WantedInput = {
  domains: [host('www.acme.com')],
  services: [host('shop.apps.acme.com'), host('blog.apps.acme.com', 'srv-2')],
  databases: [] as string[],
  baseDomain: 'apps.acme.com',
  publicUrl: 'https://cloud.acme.com',
  acme: { root: undefined, dnsHook: undefined },
}
const namesOf = (changes: Partial<WantedInput>): string[] => decideWanted({ ...base, ...changes }).names.map((name) => name.host)

describe('certificates are wanted', () => {
  test('for domains, the API and each service under a public base domain', () => {
    expect(namesOf({})).toEqual(['www.acme.com', 'cloud.acme.com', 'shop.apps.acme.com', 'blog.apps.acme.com'])
  })

  test('as one wildcard for all services where DNS records can be set', () => {
    expect(namesOf({ acme: { root: undefined, dnsHook: '/usr/bin/hook' } })).toEqual(['www.acme.com', 'cloud.acme.com', '*.apps.acme.com'])
  })

  test('not twice for an API that the wildcard covers', () => {
    const acme = { root: undefined, dnsHook: '/usr/bin/hook' }
    expect(namesOf({ acme, publicUrl: 'https://api.apps.acme.com' })).toEqual(['www.acme.com', '*.apps.acme.com'])
  })

  test('not for an API that is reached over http', () => {
    expect(namesOf({ publicUrl: 'http://cloud.acme.com' })).not.toContain('cloud.acme.com')
  })

  test.each(['localhost', 'paas.test', 'vm.internal', 'box.local', '10.0.0.5', 'intranet'])(
    'not under the base domain %s',
    (baseDomain) => {
      expect(namesOf({ baseDomain, services: [host(`shop.${baseDomain}`)], publicUrl: `https://${baseDomain}` })).toEqual(['www.acme.com'])
    },
  )

  test('under reserved names, too, where the authority is a private one', () => {
    const changes = { baseDomain: 'paas.test', services: [host('shop.paas.test')], publicUrl: 'https://paas.test' }
    expect(namesOf({ ...changes, acme: { root: 'PEM', dnsHook: undefined } })).toEqual(['www.acme.com', 'paas.test', 'shop.paas.test'])
  })

  test('for nothing where none are obtained, and still all is served', () => {
    const wanted = decideWanted({ ...base, acme: undefined })
    expect(wanted.names).toEqual([])
    expect(wanted.served).toHaveLength(4)
  })
})

test('neither kind of authority certifies this machine or an address', () => {
  for (const name of ['localhost', 'a.localhost', '127.0.0.1', '::1', '[::1]']) {
    expect([isCertifiable(name, 'public'), isCertifiable(name, 'private')]).toEqual([false, false])
  }
})

test('a wildcard covers exactly one label', () => {
  expect(['a.b.c', 'b.c', 'x.a.b.c', '*.b.c'].map((name) => covers('*.b.c', name))).toEqual([true, false, false, true])
})

test('databases have a name of their own, or share the wildcard of services', () => {
  const databases = ['dpg-0.apps.acme.com', 'kv.apps.acme.com', 'kv.apps.acme.com']
  expect(namesOf({ databases }).filter((name) => databases.includes(name))).toEqual(['dpg-0.apps.acme.com', 'kv.apps.acme.com'])
  expect(namesOf({ databases, acme: { root: undefined, dnsHook: '/hook' } })).not.toContain('kv.apps.acme.com')
})
