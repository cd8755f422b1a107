import { describe, expect, test } from 'vitest'
import { waitMs } from '../../../../server/edge/certificates/backoff.ts'
import {
  type HeldCertificate,
  MAX_REVOKE_ATTEMPTS,
  type PlanInput,
  planCertificates,
  renewalAt,
  WARN_BEFORE_MS,
} from '../../../../server/edge/certificates/plan.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const now = 1_800_000_000_000
const directory = 'https://ca.example/dir'

const held = (changes: Partial<HeldCertificate> = {}): HeldCertificate => ({
  id: 'crt-1',
  host: 'a.example',
  source: 'acme',
  directory,
  notBefore: now - DAY_MS,
  notAfter: now + 89 * DAY_MS,
  warnedAt: null,
  removedAt: null,
  revokeAttempts: 0,
  nextRevokeAt: 0,
  ...changes,
})
const fallback = held({ id: 'crt-0', host: '', source: 'self_signed', directory: '', notAfter: now + 3650 * DAY_MS })
const host = (name: string) => ({ host: name, serviceId: 'srv-1' })

function plan(changes: Partial<PlanInput> & { hosts?: string[]; served?: string[] } = {}) {
  const { hosts = ['a.example'], served = hosts, ...rest } = changes
  const wanted = { names: hosts.map(host), served: served.map(host) }
  return planCertificates({ now, wanted, certificates: [fallback], orders: [], directory, ...rest })
}

describe('a host', () => {
  test('without a certificate is ordered and obtained at once', () => {
    expect(plan()).toMatchObject({ order: [host('a.example')], obtain: ['a.example'], remove: [], forget: [] })
  })

  test('whose order has failed waits for its next try', () => {
    const { order, obtain, nextAt } = plan({ orders: [{ host: 'a.example', nextAttemptAt: now + 5000 }] })
    expect([order, obtain, nextAt]).toEqual([[], [], now + 5000])
  })

  test('with a good certificate needs nothing until two thirds of its life', () => {
    const certificate = held()
    const { order, obtain, nextAt } = plan({ certificates: [fallback, certificate] })
    expect([order, obtain, nextAt]).toEqual([[], [], renewalAt(certificate)])
  })

  test('whose certificate has lived for two thirds is obtained after those that have none', () => {
    const old = held({ notBefore: now - 61 * DAY_MS, notAfter: now + 29 * DAY_MS })
    expect(plan({ hosts: ['a.example', 'b.example'], certificates: [fallback, old] }).obtain).toEqual(['b.example', 'a.example'])
  })

  test('whose certificate is of another authority is obtained from the one that is set', () => {
    const other = held({ directory: 'https://staging.example/dir' })
    expect(plan({ certificates: [fallback, other] })).toMatchObject({ obtain: ['a.example'], remove: [], forget: [] })
  })

  test('that is wanted no longer loses its order', () => {
    expect(plan({ hosts: [], orders: [{ host: 'a.example', nextAttemptAt: now }] }).dropOrders).toEqual(['a.example'])
  })

  test('with a valid certificate of its own is not ordered until that ends', () => {
    const own = held({ source: 'uploaded', directory: '', notAfter: now + 30 * DAY_MS })
    expect(plan({ certificates: [fallback, own] })).toMatchObject({
      order: [],
      obtain: [],
      warn: [],
      nextAt: own.notAfter - WARN_BEFORE_MS,
    })
    expect(plan({ certificates: [fallback, { ...own, notAfter: now - 1 }] }).obtain).toEqual(['a.example'])
  })
})

describe('a certificate', () => {
  test('whose host is gone is taken out of use to be revoked', () => {
    expect(plan({ hosts: [], certificates: [fallback, held()] })).toMatchObject({ remove: ['crt-1'], forget: [] })
  })

  test.each([
    ['has ended', { notAfter: now - 1 }],
    ['was uploaded', { source: 'uploaded' as const, directory: '' }],
    ['is of another authority', { directory: 'https://staging.example/dir' }],
  ])('whose host is gone and that %s is forgotten', (_, changes) => {
    expect(plan({ hosts: [], certificates: [fallback, held(changes)] })).toMatchObject({ remove: [], forget: ['crt-1'] })
  })

  test('is kept while no certificates are obtained at all', () => {
    expect(plan({ hosts: [], served: ['a.example'], certificates: [fallback, held()], directory: undefined })).toMatchObject({
      remove: [],
      forget: [],
    })
  })

  test('of a service is forgotten once the wildcard covers it, and not before', () => {
    const own = held({ host: 'shop.apps.example' })
    const wildcard = held({ id: 'crt-2', host: '*.apps.example' })
    const wanted = { hosts: ['*.apps.example'], served: ['shop.apps.example'] }
    expect(plan({ ...wanted, certificates: [fallback, own] })).toMatchObject({ remove: [], forget: [] })
    expect(plan({ ...wanted, certificates: [fallback, own, wildcard] })).toMatchObject({ remove: [], forget: ['crt-1'] })
  })

  test('that is to be revoked is, when its time has come, and forgotten when it was tried often enough', () => {
    const removed = held({ removedAt: now - 1 })
    expect(plan({ hosts: [], certificates: [fallback, removed] })).toMatchObject({ revoke: ['crt-1'], forget: [] })
    const later = { ...removed, nextRevokeAt: now + 7 }
    expect(plan({ hosts: [], certificates: [fallback, later] })).toMatchObject({ revoke: [], forget: [], nextAt: now + 7 })
    const hopeless = { ...removed, revokeAttempts: MAX_REVOKE_ATTEMPTS }
    expect(plan({ hosts: [], certificates: [fallback, hopeless] })).toMatchObject({ revoke: [], forget: ['crt-1'] })
  })

  test('that was uploaded and is about to end is told of once', () => {
    const own = held({ source: 'uploaded', notAfter: now + DAY_MS })
    expect(plan({ certificates: [fallback, own] }).warn).toEqual(['crt-1'])
    expect(plan({ certificates: [fallback, { ...own, warnedAt: now }] }).warn).toEqual([])
  })
})

test('the self-signed one is made when it is missing and replaced before its end', () => {
  expect(plan({ certificates: [] }).isFallbackDue).toBe(true)
  expect(plan().isFallbackDue).toBe(false)
  expect(plan({ certificates: [{ ...fallback, notBefore: now - 3000 * DAY_MS, notAfter: now + 650 * DAY_MS }] }).isFallbackDue).toBe(true)
})

test('renewals of certificates that were obtained together are spread over a thirtieth of their life, the same each time', () => {
  const times = Array.from({ length: 200 }, (_, index) => renewalAt(held({ id: `crt-${index}` })))
  const [first, last] = [Math.min(...times), Math.max(...times)]
  expect(last).toBeLessThanOrEqual(now - DAY_MS + 60 * DAY_MS)
  expect(first).toBeGreaterThanOrEqual(now - DAY_MS + 57 * DAY_MS)
  expect(last - first).toBeGreaterThan(2 * DAY_MS)
  expect(renewalAt(held({ id: 'crt-7' }))).toBe(times[7])
})

test('tries are further and further apart, at most half a day, and never sooner than the authority asks', () => {
  expect([1, 2, 3, 10, 11, 12, 60].map((attempts) => waitMs(attempts, undefined) / 60_000)).toEqual([1, 2, 4, 512, 720, 720, 720])
  expect(waitMs(1, 3_600_000)).toBe(3_600_000)
  expect(waitMs(5, 1000)).toBe(16 * 60_000)
  expect(waitMs(1, 1e15)).toBe(7 * DAY_MS)
})
