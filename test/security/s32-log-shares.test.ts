import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { excessIn } from '../../server/telemetry/logs/shares.ts'
import { type LogType, logTypes } from '../../shared/log.ts'
import { type Fixture, makeLine, makeStore } from '../server/telemetry/logs/fixture.ts'

/** What S32 promises of the log store: strangers, whose requests make lines as well, push nobody else's lines out. */
let fixture: Fixture
beforeEach(() => {
  fixture = makeStore()
})
afterEach(() => fixture.remove())

const MAX_BYTES = 2_000_000
const message = 'm'.repeat(1000)
const append = (type: LogType, count: number) =>
  fixture.store.append(Array.from({ length: count }, (_, n) => makeLine(`${type} ${n} ${message}`, { type })))
const prune = () => fixture.store.prune({ maxAgeDays: 100_000, maxBytesPerService: MAX_BYTES }, Date.now())
const oldest = async (type: LogType) =>
  (await fixture.store.query({ resource: ['srv-a'], type: [type], direction: 'forward', limit: 1 })).logs[0]?.message
    .split(' ', 2)
    .join(' ')

describe('S32: in a full log store', () => {
  test('requests without end leave every line of the app and of its builds', async () => {
    append('app', 400)
    append('build', 300)
    append('request', 10_000)
    await prune()
    expect(await oldest('app')).toBe('app 0')
    expect(await oldest('build')).toBe('build 0')
    expect(await oldest('request')).toMatch(/^request [89]\d{3}$/)
  })

  test('an app that floods leaves what its builds have said, and the newest requests', async () => {
    append('build', 300)
    append('request', 400)
    append('app', 10_000)
    await prune()
    expect(await oldest('build')).toBe('build 0')
    expect(await oldest('request')).toBe('request 0')
  })

  test('of requests and an app that both flood, requests go first', async () => {
    append('app', 1500)
    append('request', 10_000)
    await prune()
    const kept = (type: LogType) => fixture.store.query({ resource: ['srv-a'], type: [type], limit: 1 })
    expect(await oldest('app')).toBe('app 0')
    expect((await kept('request')).logs[0]?.message).toMatch(/^request 9999 /)
  })
})

test('for any amounts: what goes is of a type beyond its share, and what is left fits', () => {
  for (let seed = 1; seed < 500; seed++) {
    const held = {
      app: (seed * 7919) % 3000,
      build: (seed * 104_729) % 900,
      request: (seed * 1_299_709) % 5000,
      platform: (seed * 611_953) % 700,
    }
    for (let excess = excessIn(held, 1000); excess !== undefined; excess = excessIn(held, 1000)) {
      expect(excess.bytes).toBeGreaterThan(0)
      held[excess.type] -= excess.bytes
    }
    const total = logTypes.reduce((sum, type) => sum + held[type], 0)
    expect(total).toBeLessThanOrEqual(1000.001)
  }
})
