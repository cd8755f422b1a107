import { expect, test } from 'vitest'
import { createConnectionLimits } from '../../../../server/ingress/limits/connection-limits.ts'

const limits = { maxConnections: 5, maxConnectionsPerAddress: 2 }

test('an address may have its number of connections, and one more when a client has left', () => {
  const connectionLimits = createConnectionLimits({ limits, isTrusted: () => false })
  const first = connectionLimits.admit('192.0.2.1')
  expect(connectionLimits.admit('::ffff:192.0.2.1')).toBe(first)
  expect(connectionLimits.admit('192.0.2.1')).toBe(undefined)
  expect(connectionLimits.admit('192.0.2.2')).toBeDefined()
  connectionLimits.release(first ?? '')
  expect(connectionLimits.admit('192.0.2.1')).toBe(first)
})

test('trusted proxies are bounded only by the limit for all', () => {
  const connectionLimits = createConnectionLimits({ limits, isTrusted: (address) => address === '10.0.0.1' })
  for (let index = 0; index < 5; index++) expect(connectionLimits.admit('10.0.0.1')).toBeDefined()
  expect(connectionLimits.admit('10.0.0.1')).toBe(undefined)
  expect(connectionLimits.admit('192.0.2.1')).toBe(undefined)
})

test('0 is no limit for one address', () => {
  const connectionLimits = createConnectionLimits({ limits: { ...limits, maxConnectionsPerAddress: 0 }, isTrusted: () => false })
  for (let index = 0; index < 5; index++) expect(connectionLimits.admit('192.0.2.1')).toBeDefined()
})
