import { describe, expect, test } from 'vitest'
import { forwardedClient } from '../../shared/forwarded-client.ts'
import { isInRanges, parseIp, parseIpRange } from '../../shared/ip-address.ts'

const isIn = (address: string, ...cidrs: string[]) =>
  isInRanges(
    address,
    cidrs.map(parseIpRange).filter((range) => range !== undefined),
  )

describe('an address', () => {
  test('is the same number in every way to write it', () => {
    expect(parseIp('::ffff:10.0.0.1')).toBe(parseIp('10.0.0.1'))
    expect(parseIp('::ffff:a00:1')).toBe(parseIp('10.0.0.1'))
    expect(parseIp('2001:DB8:0:0:0:0:0:1')).toBe(parseIp('2001:db8::1'))
    expect(parseIp('::')).toBe(0n)
    expect(parseIp('::1')).toBe(1n)
    expect(parseIp('1::')).toBe(1n << 112n)
    expect(parseIp('64:ff9b::192.0.2.33')).toBe(parseIp('64:ff9b::c000:221'))
  })
  test.each([
    '',
    'localhost',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.01',
    '1.2.3.4.5',
    ' 10.0.0.1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '1::2::3',
    ':::',
    '::g',
    '12345::',
    '::10.0.0.1.2',
    'fe80::1%eth0',
    '10.0.0.1:80',
  ])('"%s" is none', (text) => {
    expect(parseIp(text)).toBeUndefined()
  })
})

describe('a range', () => {
  test.each<[string, string, boolean]>([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.8', false],
    ['192.0.2.7/32', '::ffff:192.0.2.7', true],
    ['::ffff:192.0.2.0/120', '192.0.2.200', true],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.9', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8::/32', 'nonsense', false],
  ])('%s and %s: %s', (cidr, address, expected) => {
    expect(isIn(address, cidr)).toBe(expected)
  })
  test.each(['', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/9', '10.0.0.0/8.0', '/8', 'example.com/8'])(
    '"%s" is none',
    (text) => {
      expect(parseIpRange(text)).toBeUndefined()
    },
  )
})

describe('the client behind proxies', () => {
  const isTrusted = (address: string) => isIn(address, '10.0.0.0/8', '2001:db8::/32')
  test.each<[string, string | undefined, string]>([
    ['203.0.113.9', undefined, '203.0.113.9'],
    ['203.0.113.9', '192.0.2.1', '203.0.113.9'],
    ['10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['::ffff:10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', '198.51.100.1, 192.0.2.1', '192.0.2.1'],
    ['10.0.0.1', '192.0.2.1, 10.0.0.2', '192.0.2.1'],
    ['10.0.0.1', '192.0.2.1, 2001:db8::7', '192.0.2.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '10.0.0.3', '10.0.0.3'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '192.0.2.1, , 10.0.0.2', '10.0.0.2'],
    ['fe80::1%eth0', '192.0.2.1', 'fe80::1'],
  ])('of %s, forwarded for %s, is %s', (peer, forwardedFor, client) => {
    expect(forwardedClient(peer, forwardedFor, isTrusted)).toBe(client)
  })
})
