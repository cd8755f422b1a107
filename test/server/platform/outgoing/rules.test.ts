import { describe, expect, test } from 'vitest'
import { isReachable, isSafeUrl } from '../../../../server/platform/outgoing/rules.ts'
import { parseIpRange } from '../../../../shared/ip-address.ts'

const closed = { namedHosts: new Set<string>(), allowedRanges: [] }

describe('a host that no setting names', () => {
  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
    '2002:7f00:1::',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'ff02::1',
    'not an address',
  ])('is not reached at %s', (address) => {
    expect(isReachable(address, 'api.example.com', closed)).toBe(false)
  })

  test.each(['1.1.1.1', '140.82.112.3', '2606:4700:4700::1111', '::ffff:1.1.1.1'])('is reached at %s', (address) => {
    expect(isReachable(address, 'api.example.com', closed)).toBe(true)
  })
})

test('a private range that the operator allows is open, and no other', () => {
  const allowedRanges = [parseIpRange('10.20.0.0/16')].filter((range) => range !== undefined)
  expect(isReachable('10.20.1.1', 'x.example.com', { ...closed, allowedRanges })).toBe(true)
  expect(isReachable('::ffff:10.20.1.1', 'x.example.com', { ...closed, allowedRanges })).toBe(true)
  expect(isReachable('10.21.1.1', 'x.example.com', { ...closed, allowedRanges })).toBe(false)
})

test('a host that a setting names is reached wherever it is', () => {
  const named = { ...closed, namedHosts: new Set(['login.corp.example']) }
  expect(isReachable('10.0.0.7', 'login.corp.example', named)).toBe(true)
  expect(isReachable('10.0.0.7', 'other.corp.example', named)).toBe(false)
})

test.each([
  ['https://example.com/a', true],
  ['http://127.0.0.1:1/', true],
  ['http://[::1]:1/', true],
  ['http://localhost:1/', true],
  ['http://example.com/', false],
  ['http://10.0.0.1/', false],
  ['http://localhost.example.com/', false],
  ['https://user:password@example.com/', false],
  ['ftp://example.com/', false],
  ['file:///etc/passwd', false],
])('%s: secrets may be sent there: %s', (url, isSafe) => {
  expect(isSafeUrl(new URL(url))).toBe(isSafe)
})
