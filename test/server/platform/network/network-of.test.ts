import { expect, test } from 'vitest'
import { networkOf } from '../../../../server/platform/network/network-of.ts'

test('in IPv6 a /64 counts as one', () => {
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe(networkOf('2001:DB8:1:2::1'))
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe(networkOf('2001:db8:1:2::9'))
  expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'))
  expect(networkOf('2001:db8::1')).toBe('2001:db8:0:0::/64')
  expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
  expect(networkOf('::1')).toBe('0:0:0:0::/64')
})

test('an IPv4 address counts alone, however it is written', () => {
  expect(networkOf('10.0.0.1')).toBe('10.0.0.1')
  expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1')
})
