import { describe, expect, test } from 'vitest'
import { connectionsToEnd, type KnownConnection, limitsFor, type Situation } from '../../../../server/platform/connections/plan.ts'
import { isLoopbackHost } from '../../../../server/platform/network/address.ts'

const limits = { perAddress: 2, trusted: 3, total: 5, halfOpenMs: 1000 }
const ended = (connections: KnownConnection[], situation: Partial<Situation> = {}): number[] =>
  connectionsToEnd(connections, { now: 0, limits, missing: 0, isTrusted: (address) => address === '127.0.0.1', ...situation }).map(
    ({ descriptor }) => descriptor,
  )
const from = (...addresses: string[]): KnownConnection[] =>
  addresses.map((address, index) => ({ descriptor: index + 10, address, since: 0, isHalfOpen: false }))

describe('of the connections to the API', () => {
  test('all stay that are within the limits', () => {
    expect(ended(from('192.0.2.1', '192.0.2.1', '192.0.2.2', '127.0.0.1'))).toEqual([])
  })

  test('the newest of an address end beyond what one may have, and nobody else’s', () => {
    expect(ended(from('192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.2'))).toEqual([13])
  })

  test('one network of IPv6 counts as one address', () => {
    expect(ended(from('2001:db8::1', '2001:db8::2', '2001:db8:0:0:1::3', '2001:db8:0:1::1'))).toEqual([12])
  })

  test('those of this machine and of proxies have a limit of their own', () => {
    expect(ended(from('127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '192.0.2.1'))).toEqual([13])
  })

  test('the newest of all end beyond the total, and where descriptors are missing', () => {
    const all = from('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.6')
    expect(ended(all)).toEqual([15])
    expect(ended(all, { missing: 4 })).toEqual([12, 13, 14, 15])
    expect(ended(all, { missing: 40 })).toHaveLength(6)
  })

  test('what ends anyway counts among the missing', () => {
    expect(ended(from('192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'), { missing: 1 })).toEqual([12])
  })

  test('those half open end when their time is up, and take nobody’s place', () => {
    const [first, second, third] = from('192.0.2.1', '192.0.2.1', '192.0.2.1')
    const connections = [first, second, third].flatMap((one) => one ?? []).map((one) => ({ ...one, isHalfOpen: one === first }))
    expect(ended(connections, { now: 999 })).toEqual([12])
    expect(ended(connections, { now: 1000 })).toEqual([10])
  })

  test('0 is no limit of an address', () => {
    expect(ended(from('192.0.2.1', '192.0.2.1', '192.0.2.1'), { limits: { ...limits, perAddress: 0 } })).toEqual([])
  })
})

test('the ingress is of this machine as the kernel spells its address', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '0000:0000:0000:0000:0000:0000:0000:0001'].map(isLoopbackHost)).toEqual([true, true, true, true])
  expect(['::2', '2001:db8::1', '0.0.0.1', '::ffff:0.0.0.1', 'example.com', ''].some(isLoopbackHost)).toBe(false)
})

test('the limits leave a fifth of the descriptors, and more, to everything else', () => {
  expect(limitsFor(1024, 500)).toEqual({ limits: { perAddress: 500, trusted: 256, total: 512, halfOpenMs: 60_000 }, descriptorRoom: 819 })
  expect(limitsFor(1_048_576, 500).limits).toMatchObject({ trusted: 5000, total: 10_000 })
})
