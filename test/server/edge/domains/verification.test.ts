import { describe, expect, test } from 'vitest'
import type { DnsObservation } from '../../../../server/edge/domains/observation.ts'
import { dnsRecordsOf } from '../../../../server/edge/domains/records.ts'
import { nextCheckAt, WATCHED_MS } from '../../../../server/edge/domains/schedule.ts'
import { type Expected, verifyDomain } from '../../../../server/edge/domains/verification.ts'
import { isPublicAddress } from '../../../../server/platform/outgoing/public-addresses.ts'

const nothing: DnsObservation = { texts: [], chain: [], isChainTooLong: false, addresses: [], failures: [] }
const expected: Expected = {
  name: 'www.shop.com',
  host: 'web.apps.acme.com',
  baseDomain: 'apps.acme.com',
  addresses: ['203.0.113.7', '2001:db8::7'],
  challenge: 'cpd-abc',
  isShared: false,
  records: [{ type: 'CNAME', name: 'www.shop.com', value: 'web.apps.acme.com' }],
}
const verified = (observed: Partial<DnsObservation>, changes: Partial<Expected> = {}) =>
  verifyDomain({ ...nothing, ...observed }, { ...expected, ...changes })

describe('a domain is proven by', () => {
  test.each<[string, Partial<DnsObservation>]>([
    ['the challenge in a TXT record', { texts: ['something else', 'cpd-abc'] }],
    ['the challenge though the name leads elsewhere', { texts: ['cpd-abc'], addresses: ['198.51.100.1'] }],
    ['the challenge though the rest cannot be asked for', { texts: ['cpd-abc'], failures: ['silence'] }],
    ["a CNAME to the service's name", { chain: ['web.apps.acme.com'] }],
    ["a chain that ends at the service's name", { chain: ['cdn.shop.com', 'web.apps.acme.com'] }],
    ['an address of this machine', { addresses: ['203.0.113.7'] }],
    ['its addresses in any spelling', { addresses: ['203.0.113.7', '2001:0db8:0:0::0007'] }],
    ['a chain that ends at its address', { chain: ['origin.shop.com'], addresses: ['203.0.113.7'] }],
  ])('%s', (_, observed) => {
    expect(verified(observed).outcome).toBe('verified')
  })
})

describe('a domain is not proven by', () => {
  test.each<[string, Partial<DnsObservation>, string, string]>([
    ['nothing', {}, 'not_found', 'DNS has no address for www.shop.com'],
    ['a chain into nothing', { chain: ['gone.shop.com'] }, 'not_found', 'no address for gone.shop.com, which www.shop.com leads to'],
    ["somebody else's challenge", { texts: ['cpd-xyz'] }, 'not_found', 'Set one of these: CNAME www.shop.com → web.apps.acme.com.'],
    ["a CNAME to another service's name", { chain: ['other.apps.acme.com'] }, 'wrong_target', 'which is another service'],
    ['an address elsewhere', { addresses: ['198.51.100.1'] }, 'wrong_target', 'leads to 198.51.100.1, which is not this server'],
    ['addresses here and elsewhere', { addresses: ['203.0.113.7', '198.51.100.1'] }, 'wrong_target', 'also leads to 198.51.100.1'],
    ['a circle', { chain: ['a.com', 'b.com'], isChainTooLong: true }, 'wrong_target', 'in a circle'],
    ['silence', { failures: ['the name server did not answer in time'] }, 'no_answer', 'did not answer in time'],
    ['half of an answer', { addresses: ['203.0.113.7'], failures: ['SERVFAIL'] }, 'no_answer', 'asked for everything'],
  ])('%s', (_, observed, outcome, message) => {
    const check = verified(observed)
    expect(check.outcome).toBe(outcome)
    expect(check.message).toContain(message)
  })

  test('an address where another workspace uses the same domain, though by the TXT record or its own CNAME', () => {
    const check = verified({ addresses: ['203.0.113.7'] }, { isShared: true })
    expect(check).toMatchObject({ outcome: 'wrong_target' })
    expect(check.message).toContain('Set the TXT record')
    expect(verified({ texts: ['cpd-abc'] }, { isShared: true }).outcome).toBe('verified')
    expect(verified({ chain: ['web.apps.acme.com'] }, { isShared: true }).outcome).toBe('verified')
  })

  test('an address where it is not known which are ours', () => {
    const check = verified({ addresses: ['203.0.113.7'] }, { addresses: [] })
    expect(check.message).toContain('CP_PUBLIC_ADDRESSES')
    expect(check.outcome).toBe('wrong_target')
  })
})

test('what was found is told record by record, a long or invisible text cut and made visible', () => {
  const { found } = verified({
    chain: ['a.shop.com', 'b.shop.com'],
    addresses: ['198.51.100.1', '2001:db8::1'],
    texts: ['\u001b[31mred', 'x'.repeat(300)],
  })
  expect(found).toEqual([
    'CNAME www.shop.com → a.shop.com',
    'CNAME a.shop.com → b.shop.com',
    'A b.shop.com → 198.51.100.1',
    'AAAA b.shop.com → 2001:db8::1',
    'TXT _cpd-challenge.www.shop.com → \ufffd[31mred',
    `TXT _cpd-challenge.www.shop.com → ${'x'.repeat(100)}`,
  ])
})

describe('the records to set', () => {
  const targets = { host: 'web.apps.acme.com', addresses: ['203.0.113.7', '2001:db8::7'] }
  const txt = (name: string) => ({ type: 'TXT', name: `_cpd-challenge.${name}`, value: 'c' })

  test('of a subdomain are a CNAME or the challenge', () => {
    const records = dnsRecordsOf({ name: 'www.shop.com', domainType: 'subdomain', challenge: 'c' }, targets)
    expect(records).toEqual([{ type: 'CNAME', name: 'www.shop.com', value: 'web.apps.acme.com' }, txt('www.shop.com')])
  })

  test('of an apex, which can be no CNAME, are addresses', () => {
    const records = dnsRecordsOf({ name: 'shop.com', domainType: 'apex', challenge: 'c' }, targets)
    expect(records).toEqual([
      { type: 'A', name: 'shop.com', value: '203.0.113.7' },
      { type: 'AAAA', name: 'shop.com', value: '2001:db8::7' },
      txt('shop.com'),
    ])
  })

  test('are addresses where public DNS does not know the base domain', () => {
    const [record] = dnsRecordsOf({ name: 'www.shop.com', domainType: 'subdomain', challenge: 'c' }, { ...targets, host: 'web.localhost' })
    expect(record).toEqual({ type: 'A', name: 'www.shop.com', value: '203.0.113.7' })
  })
})

describe('a domain is looked at', () => {
  const MINUTE = 60_000
  const domain = { requestedAt: null, verifiedAt: null, checkedAt: null, watchedUntil: WATCHED_MS, createdAt: 0 }

  test('at once when it is new, and whenever somebody asks', () => {
    expect(nextCheckAt(domain, 5)).toBe(5)
    expect(nextCheckAt({ ...domain, requestedAt: 1, verifiedAt: 1, checkedAt: 1 }, 7)).toBe(7)
    expect(nextCheckAt({ ...domain, requestedAt: 1, checkedAt: 1 }, WATCHED_MS * 2)).toBe(WATCHED_MS * 2)
  })

  test('each minute for an hour, hourly for three days, and then no more', () => {
    expect(nextCheckAt({ ...domain, checkedAt: 10 * MINUTE }, 10 * MINUTE)).toBe(11 * MINUTE)
    expect(nextCheckAt({ ...domain, checkedAt: 90 * MINUTE }, 90 * MINUTE)).toBe(150 * MINUTE)
    expect(nextCheckAt({ ...domain, checkedAt: WATCHED_MS - MINUTE }, WATCHED_MS - MINUTE)).toBeUndefined()
  })

  test('no more once it is verified', () => {
    expect(nextCheckAt({ ...domain, verifiedAt: 5, checkedAt: 5 }, 10 * MINUTE)).toBeUndefined()
  })
})

test('only addresses that the internet leads to are public', () => {
  const hidden = [
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '::1',
    'fe80::1',
    'fd00::1',
    '224.0.0.1',
    '255.255.255.255',
  ]
  for (const address of hidden) expect([address, isPublicAddress(address)]).toEqual([address, false])
  for (const address of ['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111'])
    expect([address, isPublicAddress(address)]).toEqual([address, true])
})
