import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { fetchText, Unfetched } from '../../../../server/builders/toolchains/registry/download.ts'
import { createOutages } from '../../../../server/builders/toolchains/registry/outages.ts'

class OutOfReach extends Unfetched {}

describe('an outage', () => {
  let now = 0
  const outages = createOutages(() => now)
  const outage = { of: 'sums', kind: OutOfReach }
  const fail = (problem: Error) => outages.unless(outage, () => Promise.reject(problem))
  const minutes = (count: number) => {
    now += count * 60_000
  }

  test('is told for five minutes to whoever asks, and then asked for again', async () => {
    const problem = new OutOfReach('out of reach')
    await expect(fail(problem)).rejects.toBe(problem)
    minutes(4.9)
    await expect(fail(new OutOfReach('asked again'))).rejects.toBe(problem)
    expect(await outages.unless({ ...outage, of: 'another' }, async () => 'there')).toBe('there')
    minutes(0.1)
    expect(await outages.unless(outage, async () => 'back')).toBe('back')
  })

  test('is none where an answer is refused', async () => {
    await expect(fail(new Unfetched('not known'))).rejects.toThrow('not known')
    expect(await outages.unless(outage, async () => 'there')).toBe('there')
  })
})

describe('a server that falls silent', () => {
  let server: ReturnType<typeof Bun.serve>
  let asked: number
  let begins: boolean

  beforeAll(() => {
    server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch() {
        asked += 1
        if (!begins) return new Promise<Response>(() => {})
        return new Response(new ReadableStream({ start: (controller) => controller.enqueue('a') }))
      },
    })
  })
  afterAll(() => server.stop(true))
  beforeEach(() => {
    asked = 0
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const asksWhen = async (count: number) => {
    while (asked < count) await Bun.sleep(1)
    await Bun.sleep(50)
    vi.advanceTimersByTime(30_000)
  }
  const fetched = () =>
    fetchText(new URL(server.url), { way: async () => ({}), signal: new AbortController().signal, mostBytes: 10 }).catch(String)

  test('before it answers is asked once', async () => {
    begins = false
    const text = fetched()
    await asksWhen(1)
    expect(await text).toMatch(/sent nothing for 30 s$/)
    expect(asked).toBe(1)
  })

  test('within its answer is asked three times', async () => {
    begins = true
    const text = fetched()
    for (const count of [1, 2, 3]) await asksWhen(count)
    expect(await text).toMatch(/sent nothing for 30 s$/)
    expect(asked).toBe(3)
  })
})
