import { expect, test } from 'vitest'
import { createSeats } from '../../../../server/ingress/limits/connection-limits.ts'

const limits = { maxConnections: 5, maxConnectionsPerAddress: 2 }

test('an address has its number of seats, and gets one back when a client leaves', () => {
  const seats = createSeats({ limits, isTrusted: () => false })
  const first = seats.take('192.0.2.1')
  expect(seats.take('::ffff:192.0.2.1')).toBe(first)
  expect(seats.take('192.0.2.1')).toBe(undefined)
  expect(seats.take('192.0.2.2')).toBeDefined()
  seats.leave(first ?? '')
  expect(seats.take('192.0.2.1')).toBe(first)
})

test('trusted proxies take seats only of all', () => {
  const seats = createSeats({ limits, isTrusted: (address) => address === '10.0.0.1' })
  for (let index = 0; index < 5; index++) expect(seats.take('10.0.0.1')).toBeDefined()
  expect(seats.take('10.0.0.1')).toBe(undefined)
  expect(seats.take('192.0.2.1')).toBe(undefined)
})

test('0 is no limit for one address', () => {
  const seats = createSeats({ limits: { ...limits, maxConnectionsPerAddress: 0 }, isTrusted: () => false })
  for (let index = 0; index < 5; index++) expect(seats.take('192.0.2.1')).toBeDefined()
})
