import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogHub, type LogHub } from '../../server/telemetry/logs/hub.ts'
import type { LogLine } from '../../server/telemetry/logs/line.ts'
import { createSubscriptionLimits } from '../../server/telemetry/logs/subscription-limits.ts'
import { type Fixture, makeLine, makeStore, until } from '../server/telemetry/logs/fixture.ts'
import { call } from '../support/client.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { closed, openSocket, upgradeHeaders } from '../support/socket.ts'

/** What S27 promises of those who follow logs: they are counted, and however many there are, others get their turn. */
const follower = (id: string, workspaceId = 'tea-one') => ({ type: 'api_key', id, workspaceId })

describe('S27: who follows logs', () => {
  test('does so 25 times with one credential, 100 times in a workspace and 500 times on the server at most', () => {
    const take = createSubscriptionLimits()
    const gives = Array.from({ length: 25 }, () => take(follower('key-1')))
    expect(() => take(follower('key-1'))).toThrow(/This credential follows logs 25 times at once already/)
    for (let n = 0; n < 75; n++) take(follower(`key-2-${n % 3}`))
    expect(() => take(follower('key-3'))).toThrow(/This workspace follows logs 100 times/)
    for (let n = 0; n < 400; n++) take(follower(`other-${n}`, `tea-${Math.floor(n / 100)}`))
    expect(() => take(follower('another', 'tea-last'))).toThrow(/Clients of this server follow logs 500 times/)
    // Given back twice counts once.
    for (const give of [gives[0], gives[0], gives[1]]) give?.()
    take(follower('key-1'))
    take(follower('key-1'))
    expect(() => take(follower('key-1'))).toThrow(/25 times/)
  })

  describe('through the API', () => {
    let server: TestServer
    beforeEach(async () => {
      server = await startTestServer()
    })
    afterEach(() => server.close())

    test('is told with 429 at the bound, and gets a seat again when a socket is closed or its handshake was none', async () => {
      const url = `${server.url}/v1/logs/subscribe`
      const headers = { authorization: `Bearer ${server.adminToken}` }
      const refusedHandshakes = await Promise.all(Array.from({ length: 30 }, () => call(url, { token: server.adminToken })))
      expect(new Set(refusedHandshakes.map(({ status }) => status))).toEqual(new Set([400]))
      const sockets = await Promise.all(Array.from({ length: 25 }, () => openSocket(url, headers)))
      const refused = await fetch(url, { headers: { ...headers, ...upgradeHeaders } })
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(((await refused.json()) as { message: string }).message).toMatch(/^This credential follows logs 25 times at once already/)
      const gone = sockets.map(closed)
      for (const socket of sockets) socket.close()
      await Promise.all(gone)
      await until(() => server.context.logHub.size() === 0, 60_000)
      const again = await openSocket(url, headers)
      const end = closed(again)
      again.close()
      await end
    })
  })
})

describe('S28: beside 500 who follow a flood of lines', () => {
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

  const flood = (count: number) => fixture.store.append(Array.from({ length: count }, (_, n) => makeLine(`line ${n} ${'x'.repeat(100)}`)))
  /** Costs about what writing a frame does. */
  const sinkOf = (taken: LogLine[], bytes: { count: number }) => ({
    send(line: LogLine) {
      bytes.count += Buffer.from(JSON.stringify(line)).length
      return taken.push(line) > 0
    },
  })

  test('no batch of lines is handed to all of them in one turn, and in the end all have all of it', async () => {
    const bytes = { count: 0 }
    const ending = new AbortController()
    const followers = Array.from({ length: 500 }, () => {
      const taken: LogLine[] = []
      hub.subscribe({ filter: { resource: ['srv-a'] }, from: 'now', sink: sinkOf(taken, bytes), signal: ending.signal })
      return taken
    })
    // All are live: what follows is new to them.
    flood(1)
    await until(() => followers.every((taken) => taken.length === 1), 60_000)
    bytes.count = 0
    flood(400)
    // Storing them hands nothing out yet, and each turn only a part.
    expect(bytes.count).toBe(0)
    const perTurn: number[] = []
    await until(() => {
      perTurn.push(bytes.count)
      return followers.every((taken) => taken.length === 401)
    }, 120_000)
    const seqs = followers[0]?.map(({ seq }) => seq)
    for (const taken of followers) expect(taken.map(({ seq }) => seq)).toEqual(seqs)
    expect(perTurn.filter((count, index) => count !== perTurn[index - 1]).length).toBeGreaterThan(5)
    ending.abort()
    expect(hub.size()).toBe(0)
  }, 180_000)

  test('one that takes nothing for too long is ended, and told', async () => {
    hub.close()
    hub = createLogHub(fixture.store, 200)
    const ends: string[] = []
    const subscribe = (name: string, takesMore: boolean) =>
      hub.subscribe({
        filter: { resource: ['srv-a'] },
        from: 'now',
        sink: { send: () => takesMore },
        signal: new AbortController().signal,
        onTooSlow: () => ends.push(name),
      })
    subscribe('slow', false)
    subscribe('quick', true)
    flood(10)
    await until(() => ends.length > 0, 60_000)
    flood(10)
    expect(ends).toEqual(['slow'])
    expect(hub.size()).toBe(1)
  })
})
