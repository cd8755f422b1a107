import { expect, test } from 'vitest'
import { trustedProxies } from '../../../../server/platform/network/trusted-proxies.ts'
import { exchangeRaw, ok, proxyTo, startRawUpstream, startWorld } from '../../ingress/world.ts'

test('an address is trusted when one of the ranges holds it', () => {
  const isTrusted = trustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])
  for (const address of ['10.1.2.3', '192.0.2.7', '2001:db8:1::2']) expect(isTrusted(address)).toBe(true)
  for (const address of ['11.1.2.3', '192.0.2.8', '2001:db9::1', '::1']) expect(isTrusted(address)).toBe(false)
  expect(trustedProxies([])('127.0.0.1')).toBe(false)
})

test.each(['10.0.0.0/33', '10.0.0/8', 'proxy.example', '10.0.0.0/8/9', '::1/200', ''])('"%s" is refused by name', (cidr) => {
  expect(() => trustedProxies([cidr])).toThrow(`"${cidr}" is no address range`)
})

test('only a trusted peer may say whom it speaks for', async () => {
  for (const [trusted, expected] of [
    [['127.0.0.0/8'], 'X-Forwarded-For: 203.0.113.9, 127.0.0.1\r\n'],
    [[], 'X-Forwarded-For: 127.0.0.1\r\n'],
  ] as const) {
    const world = await startWorld({ trustedProxies: [...trusted] })
    const upstream = startRawUpstream((socket) => void socket.write(ok('x')))
    await world.publish({ 'a.test': proxyTo(upstream.port) })
    await exchangeRaw(world.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n\r\n')
    expect(upstream.received()).toContain(expected)
    upstream.stop()
    await world.close()
  }
})
