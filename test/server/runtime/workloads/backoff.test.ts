import { describe, expect, test } from 'vitest'
import { isCrashLooping, nextRestartDelayMs, STABLE_RUN_MS } from '../../../../server/runtime/workloads/backoff.ts'

const now = Date.UTC(2026, 0, 1)
const failuresEvery = (gapMs: number, count: number) => Array.from({ length: count }, (_, index) => ({ at: now - index * gapMs }))

describe('nextRestartDelayMs', () => {
  test('doubles from 1 s to 60 s', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 50, 5000].map((count) => nextRestartDelayMs(failuresEvery(1000, count), now))
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000])
  })

  test('is 0 when nothing has failed', () => {
    expect(nextRestartDelayMs([], now)).toBe(0)
  })

  test('counts the time that has passed since the failure', () => {
    expect(nextRestartDelayMs([{ at: now - 400 }], now)).toBe(600)
    expect(nextRestartDelayMs([{ at: now - 4000 }], now)).toBe(0)
  })

  test('begins anew after a stable run', () => {
    const old = failuresEvery(1000, 6).map(({ at }) => ({ at: at - STABLE_RUN_MS }))
    expect(nextRestartDelayMs([...old, { at: now }], now)).toBe(1000)
  })

  test('takes failures in any order', () => {
    expect(nextRestartDelayMs([{ at: now - 5000 }, { at: now }, { at: now - 9000 }], now)).toBe(4000)
  })
})

describe('isCrashLooping', () => {
  test('holds from five failures in two minutes', () => {
    const times = [0, 30, 60, 90, 119].map((seconds) => now - seconds * 1000)
    expect(isCrashLooping(times, now)).toBe(true)
    expect(isCrashLooping(times.slice(1), now)).toBe(false)
  })

  test('ends when the failures are older than two minutes', () => {
    const times = [0, 30, 60, 90, 119].map((seconds) => now - seconds * 1000)
    expect(isCrashLooping(times, now + 2000)).toBe(false)
  })
})
