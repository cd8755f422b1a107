import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogHub, type LogHub, type SubscribeOptions } from '../../../../server/telemetry/logs/hub.ts'
import type { LogLine } from '../../../../server/telemetry/logs/line.ts'
import { type Fixture, makeLine, makeStore, randomFrom, until } from './fixture.ts'

let fixture: Fixture
let hub: LogHub
beforeEach(() => {
  fixture = makeStore()
  hub = createLogHub(fixture.store)
})
afterEach(() => {
  hub.close()
  fixture.remove()
})

function listenTo(options: Partial<SubscribeOptions> = {}) {
  const lines: LogLine[] = []
  const ending = new AbortController()
  const subscription = hub.subscribe({
    filter: { resource: ['srv-a'] },
    from: 'start',
    sink: { send: (line) => lines.push(line) > 0 },
    signal: ending.signal,
    ...options,
  })
  return { lines, subscription, end: () => ending.abort() }
}

const append = (count: number, over = {}) => fixture.store.append(Array.from({ length: count }, (_, i) => makeLine(`line ${i}`, over)))

describe('a subscription', () => {
  test('gives history and then live lines, each once and in order, while lines keep arriving', async () => {
    const random = randomFrom(3)
    const all = append(3000)
    const listeners: ReturnType<typeof listenTo>[] = []
    for (let round = 0; round < 300; round++) {
      if (round % 30 === 0) listeners.push(listenTo())
      all.push(...append(1 + random(40)))
      append(random(5), { resource: 'srv-other' })
      if (random(3) === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    for (const { lines } of listeners) {
      await until(() => lines.length >= all.length)
      expect(lines).toEqual(all)
    }
  })

  test('from now on gives nothing older', async () => {
    append(50)
    const { lines } = listenTo({ from: 'now' })
    const [next] = append(1)
    await until(() => lines.length > 0)
    expect(lines).toEqual([next])
  })

  test('from a number on begins with that line', async () => {
    const stored = append(50)
    const { lines } = listenTo({ from: { seq: stored[20]?.seq ?? 0 } })
    await until(() => lines.length >= 30)
    expect(lines).toEqual(stored.slice(20))
  })

  test('with a start time leaves older lines out', async () => {
    const stored = append(50)
    const { lines } = listenTo({ filter: { resource: 'any', startAt: stored[40]?.at ?? 0 } })
    await until(() => lines.length >= 10)
    expect(lines).toEqual(stored.slice(40))
  })

  test('gets only lines that pass its filter', async () => {
    const { lines } = listenTo({ filter: { resource: ['srv-a'], level: ['error'], text: ['boom'] } })
    await Bun.sleep(20)
    fixture.store.append([makeLine('boom'), makeLine('BOOM', { level: 'error' }), makeLine('boom', { level: 'error', resource: 'srv-b' })])
    await until(() => lines.length > 0)
    expect(lines.map((line) => line.message)).toEqual(['BOOM'])
  })

  test('that is aborted frees what it held', async () => {
    const listeners = Array.from({ length: 100 }, () => listenTo())
    expect(hub.size()).toBe(100)
    for (const { end } of listeners) end()
    expect(hub.size()).toBe(0)
    append(10)
    await Bun.sleep(20)
    expect(listeners.flatMap(({ lines }) => lines)).toEqual([])
  })

  test('whose sink throws ends alone', async () => {
    const errors: unknown[] = []
    const broken = {
      send: () => {
        throw new Error('socket gone')
      },
    }
    listenTo({ sink: broken, onError: (error) => errors.push(error) })
    const { lines } = listenTo()
    await Bun.sleep(20)
    append(5)
    await until(() => lines.length === 5 && errors.length === 1)
    expect(hub.size()).toBe(1)
  })
})

describe('a slow subscriber', () => {
  test('is never given more than it accepts, and in the end misses and repeats nothing', async () => {
    const random = randomFrom(17)
    const taken: LogLine[] = []
    let isFull = false
    const sink = {
      send(line: LogLine) {
        expect(isFull).toBe(false)
        taken.push(line)
        isFull = random(10) === 0
        return !isFull
      },
    }
    const { subscription } = listenTo({ sink })
    const all: LogLine[] = []
    for (let round = 0; round < 300; round++) {
      all.push(...append(random(50)))
      if (random(2) === 0) await new Promise((resolve) => setImmediate(resolve))
      if (isFull && random(3) === 0) {
        isFull = false
        subscription.resume()
      }
    }
    await until(() => {
      isFull = false
      subscription.resume()
      return taken.length >= all.length
    })
    expect(taken).toEqual(all)
  })

  test('that falls behind retention goes on with the next line kept and is told once', async () => {
    const { lines, subscription } = listenTo({
      sink: {
        send(line) {
          lines.push(line)
          return lines.length > 1
        },
      },
    })
    const big = (n: number) => append(n, { message: 'z'.repeat(1000) })
    await Bun.sleep(10)
    big(5000)
    await until(() => lines.length === 1)
    await fixture.store.prune({ maxAgeDays: 36_500, maxBytesPerService: 500_000 }, Date.now())
    const [oldest] = (await fixture.store.query({ resource: 'any', direction: 'forward', limit: 1 })).logs
    subscription.resume()
    const last = big(1)[0]
    await until(() => lines.at(-1)?.seq === last?.seq)
    expect(lines[1]).toMatchObject({ level: 'warning', message: expect.stringContaining('removed by the log retention') })
    expect(lines[2]).toEqual(oldest)
    const seqs = lines.slice(2).map((line) => line.seq)
    expect(seqs).toEqual(Array.from(seqs, (_, i) => (seqs[0] ?? 0) + i))
  })
})
