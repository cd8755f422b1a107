import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readResponse } from '../../support/strict-http.ts'
import { type BadAnswer, badAnswers } from './bad-instances.ts'
import {
  connectRaw,
  eventually,
  exchangeRaw,
  ok,
  proxyTo,
  type RawUpstream,
  startRawUpstream,
  startWorld,
  type UpstreamScript,
  type World,
} from './world.ts'

const MAX_CONNECTIONS = 100
const MIB = 1024 * 1024

let world: World
const cleanups: (() => void)[] = []

beforeAll(async () => {
  world = await startWorld({
    limits: {
      headTimeoutMs: 400,
      bodyIdleMs: 400,
      keepAliveMs: 1000,
      writeIdleMs: 300,
      upstreamIdleMs: 250,
      lingerMs: 100,
      maxConnections: MAX_CONNECTIONS,
    },
  })
})
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})
afterAll(() => world.close())

async function serve(script: UpstreamScript): Promise<RawUpstream> {
  const upstream = startRawUpstream(script)
  cleanups.push(upstream.stop)
  await world.publish({ 'a.test': proxyTo(upstream.port) })
  return upstream
}

const ask = (path: string, ...fields: string[]): string =>
  `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`
const isWhole = (text: string): boolean => text.includes('\r\n\r\n')
const statuses = (text: string): number[] => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

/** Nothing of what was tried may be left. */
async function expectAtRest(upstream: { port: number }): Promise<void> {
  await eventually(async () => (await world.client.drainState(`i-${upstream.port}`)).inFlight === 0)
  expect(world.logged.filter((line) => line.includes('failed'))).toEqual([])
}

describe('bad instances', () => {
  const script =
    ({ bytes, ending }: BadAnswer): UpstreamScript =>
    (socket, text) => {
      if (!isWhole(text)) return
      if (text.endsWith('\r\n\r\n') && text.includes('/next')) {
        socket.write(ok('clean'))
        return
      }
      if (socket.data.answers++ > 0) return
      socket.write(Buffer.from(bytes, 'latin1'))
      if (ending === 'close') socket.end()
      if (ending === 'reset') setTimeout(() => socket.terminate(), 20)
    }

  test.each(badAnswers)('an instance that answers with $name', async (bad) => {
    const upstream = await serve(script(bad))
    const client = await connectRaw(world.port)
    const method = bad.method ?? 'GET'
    client.send(ask('/bad').replace('GET', method))
    if (typeof bad.outcome === 'object') {
      await client.until((text) => readResponse(text, method, false) !== undefined)
      expect(readResponse(client.text(), method, false)).toMatchObject({ response: { payload: bad.outcome.body }, restBytes: 0 })
      // The next answer on the same connection, and those on others, are not what is left of this one.
      client.send(ask('/next', 'Connection: close'))
      const { text } = await client.closed
      expect(text.endsWith('clean')).toBe(true)
      expect(text).not.toContain('poison')
    } else {
      // A page of our own keeps the connection; an answer that was cut off never does.
      if (bad.outcome === 'refused') client.send(ask('/next', 'Connection: close'))
      const { text, isReset } = await client.closed
      if (bad.outcome === 'refused') {
        expect(statuses(text).filter((status) => status >= 200)).toEqual([bad.name.endsWith('waits') ? 504 : 502, 200])
        expect(text).not.toMatch(/Set-Cookie|poison|^abc/m)
      } else {
        expect(isReset).toBe(true)
        expect(['', '200']).toContain(statuses(text).join())
        const isDelimited = text.includes('Content-Length') || text.includes('chunked')
        if (isDelimited) expect(readAnswer(text)).toBeUndefined()
      }
    }
    const after = await exchangeRaw(world.port, ask('/next', 'Connection: close'))
    expect(after.text.endsWith('clean')).toBe(true)
    await expectAtRest(upstream)
  })

  /** The whole answer that a client could take this for, if any. */
  function readAnswer(text: string): unknown {
    try {
      return readResponse(text, 'GET', false)
    } catch {
      return undefined
    }
  }

  test('an answer that is broken off at any byte is never passed on as whole', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n'
    const upstream = await serve((socket, text) => {
      if (!isWhole(text)) return
      socket.write(answer.slice(0, Number(/\/(\d+) /.exec(text)?.[1])))
      socket.flush()
      socket.end()
    })
    const lengths = Array.from({ length: answer.length }, (_, index) => index)
    const outcomes = await inTurns(lengths, async (length) => ({
      length,
      ...(await exchangeRaw(world.port, ask(`/${length}`, 'Connection: close'))),
    }))
    const head = answer.indexOf('\r\n\r\n') + 4
    for (const { length, text, isReset } of outcomes) {
      if (length < head) expect({ length, statuses: statuses(text) }).toEqual({ length, statuses: [502] })
      else expect({ length, isReset, whole: readAnswer(text) }).toEqual({ length, isReset: true, whole: undefined })
    }
    await expectAtRest(upstream)
  })

  test('an instance that resets while a body is sent to it is a 502 or a broken connection, and nothing hangs', async () => {
    const upstream = await serve((socket, text) => {
      if (text.length > 100_000) socket.terminate()
    })
    const body = Buffer.alloc(8 * MIB, 'x')
    const head = Buffer.from(`POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${body.length}\r\n\r\n`)
    const { text, isReset } = await exchangeRaw(world.port, Buffer.concat([head, body]))
    expect(isReset || statuses(text).join() === '502').toBe(true)
    await expectAtRest(upstream)
  })

  test('an instance that takes a connection and reads nothing is a 504, for a large body as well', async () => {
    const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open: (socket) => void socket.pause(), data() {} } })
    cleanups.push(() => listener.stop(true))
    await world.publish({ 'a.test': proxyTo(listener.port) })
    const head = `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${64 * MIB}\r\n\r\n`
    const client = await connectRaw(world.port)
    client.send(head)
    client.send(Buffer.alloc(16 * MIB))
    await client.until((text) => text.includes('HTTP/1.1'))
    expect(statuses(client.text())).toEqual([504])
    client.kill()
    await expectAtRest({ port: listener.port })
  })
})

describe('bad clients', () => {
  const chunkedPost = 'POST /up HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
  const echo: UpstreamScript = (socket, text) => {
    if (text.endsWith('\r\n0\r\n\r\n') || (text.startsWith('GET ') && text.endsWith('\r\n\r\n'))) socket.write(ok('fine'))
  }

  test.each(['reset', 'closed on their side'] as const)(
    'connections that are %s at any byte of a request leave nothing behind',
    async (how) => {
      const upstream = await serve(echo)
      await inTurns(
        Array.from({ length: chunkedPost.length }, (_, index) => index),
        async (length) => {
          const client = await connectRaw(world.port)
          client.send(chunkedPost.slice(0, length))
          await Bun.sleep(5)
          if (how === 'reset') client.kill()
          else client.end()
          const { text } = await client.closed
          expect(statuses(text).filter((status) => status < 400)).toEqual([])
        },
      )
      await expectAtRest(upstream)
      await eventually(async () => (await world.client.status()).activeConnections === 0)
      expect((await exchangeRaw(world.port, ask('/', 'Connection: close'))).text).toContain('fine')
    },
  )

  test('a thousand pipelined requests are answered in order, whether they come at once or in pieces', async () => {
    await serve((socket, text) => {
      const requests = text.split('\r\n\r\n').slice(0, -1)
      for (const request of requests.slice(socket.data.answers)) {
        socket.data.answers++
        socket.write(ok(`<${/GET \/(\d+)/.exec(request)?.[1]}>`))
      }
    })
    const numbers = Array.from({ length: 1000 }, (_, index) => index)
    const stream = numbers.map((index) => ask(`/${index}`)).join('')
    for (const pieceBytes of [stream.length, 1013]) {
      const client = await connectRaw(world.port)
      for (let at = 0; at < stream.length; at += pieceBytes) client.send(stream.slice(at, at + pieceBytes))
      const text = await client.until((sofar) => sofar.includes('<999>'))
      expect([...text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number))).toEqual(numbers)
      client.kill()
    }
  })

  test('a client that pipelines without reading the answers is made to wait, and then left', async () => {
    let asked = 0
    const page = 'x'.repeat(64 * 1024)
    const upstream = await serve((socket, text) => {
      const requests = text.split('\r\n\r\n').length - 1
      for (; socket.data.answers < requests; socket.data.answers++) {
        asked++
        socket.write(ok(page))
      }
    })
    const isGone = Promise.withResolvers<void>()
    const socket = await Bun.connect({ hostname: '127.0.0.1', port: world.port, socket: { data() {}, close: () => isGone.resolve() } })
    socket.pause()
    socket.write(ask('/').repeat(1000))
    await isGone.promise
    // What the buffers of two sockets and our own queue hold, and far from the 64 MB that were asked for.
    expect(asked).toBeLessThan(400)
    await expectAtRest(upstream)
  })

  test('connections beyond the limit are closed at once, those below it are served, and places come free again', async () => {
    await serve(echo)
    const idle = await Promise.all(Array.from({ length: MAX_CONNECTIONS - 1 }, () => connectRaw(world.port)))
    await eventually(async () => (await world.client.status()).activeConnections === MAX_CONNECTIONS - 1)
    const last = await connectRaw(world.port)
    last.send(ask('/'))
    await last.until((text) => text.endsWith('fine'))
    const beyond = await Promise.all(Array.from({ length: 50 }, () => exchangeRaw(world.port, '')))
    expect(beyond.map(({ text }) => text).join('')).toBe('')
    last.send(ask('/'))
    await last.until((text) => text.match(/fine/g)?.length === 2)
    for (const client of [...idle, last]) client.kill()
    await eventually(async () => (await world.client.status()).activeConnections === 0)
    expect((await exchangeRaw(world.port, ask('/', 'Connection: close'))).text).toContain('fine')
  })
})

/** Some at once, not all: there is a limit of connections. */
async function inTurns<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  const AT_ONCE = 20
  for (let at = 0; at < items.length; at += AT_ONCE) results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))))
  return results
}
