import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { realClock } from '../../../../server/platform/work/clock.ts'
import { createDriver, type Driver } from '../../../../server/platform/work/driver.ts'
import { until } from '../../../support/until.ts'

let stopper = new AbortController()
afterEach(() => {
  stopper.abort()
  stopper = new AbortController()
})

interface Run {
  key: string
  finish(dueAt?: number): void
  fail(): void
}

/** A driver whose runs end when the test says so. */
function driverByHand(): { driver: Driver; runs: Run[]; errors: string[] } {
  const runs: Run[] = []
  const errors: string[] = []
  const driver = createDriver({
    run: (key) => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
      runs.push({ key, finish: resolve, fail: () => reject(new Error('broken')) })
      return promise
    },
    onError: (key) => errors.push(key),
    ...realClock,
    signal: stopper.signal,
  })
  return { driver, runs, errors }
}

const turn = () => sleep(1)

test('a poke runs its key once', async () => {
  const { driver, runs } = driverByHand()
  driver.poke('a')
  await turn()
  runs[0]?.finish()
  await turn()
  expect(runs.map(({ key }) => key)).toEqual(['a'])
})

test('however many pokes arrive during a run, one more run follows it', async () => {
  const { driver, runs } = driverByHand()
  driver.poke('a')
  await turn()
  for (let i = 0; i < 5; i++) driver.poke('a')
  await turn()
  expect(runs).toHaveLength(1)
  runs[0]?.finish()
  await turn()
  expect(runs).toHaveLength(2)
  runs[1]?.finish()
  await turn()
  expect(runs).toHaveLength(2)
})

test('keys do not wait for each other', async () => {
  const { driver, runs } = driverByHand()
  driver.poke('a')
  driver.poke('b')
  await turn()
  expect(runs.map(({ key }) => key)).toEqual(['a', 'b'])
})

test('a run that asks for it is called again when the time has come', async () => {
  const { driver, runs } = driverByHand()
  driver.poke('a')
  await turn()
  const dueAt = Date.now() + 30
  runs[0]?.finish(dueAt)
  await until('the second run', () => runs.length === 2)
  expect(Date.now()).toBeGreaterThanOrEqual(dueAt)
})

test('a poke does not wait for the due time, which then counts no more', async () => {
  const { driver, runs } = driverByHand()
  driver.poke('a')
  await turn()
  runs[0]?.finish(Date.now() + 40)
  await turn()
  driver.poke('a')
  await turn()
  expect(runs).toHaveLength(2)
  runs[1]?.finish()
  await sleep(60)
  expect(runs).toHaveLength(2)
})

test('a run that fails is reported and tried again', async () => {
  const { driver, runs, errors } = driverByHand()
  driver.poke('a')
  await turn()
  runs[0]?.fail()
  await until('the second run', () => runs.length === 2)
  expect(errors).toEqual(['a'])
})

test('after a stop nothing runs any more, and the run under way is waited for', async () => {
  const { driver, runs } = driverByHand()
  driver.poke('a')
  await turn()
  driver.poke('a')
  stopper.abort()
  let isSettled = false
  const settled = driver.settled().then(() => {
    isSettled = true
  })
  await turn()
  expect(isSettled).toBe(false)
  runs[0]?.finish(Date.now())
  await settled
  driver.poke('a')
  await turn()
  expect(runs).toHaveLength(1)
})

test('what is due in years is looked at after a day, as timers know no years', async () => {
  const delays: number[] = []
  const after = (delayMs: number) => {
    delays.push(delayMs)
    return () => {}
  }
  const driver = createDriver({ run: async () => Number.POSITIVE_INFINITY, onError: () => {}, now: () => 0, after, signal: stopper.signal })
  driver.poke('a')
  await driver.settled()
  expect(delays).toEqual([86_400_000])
})
