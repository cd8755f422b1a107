import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectRaw, eventually, exchangeRaw, ok, proxyTo, type RawUpstream, startRawUpstream, startWorld, type World } from '../world.ts'

let world: World
let upstream: RawUpstream

beforeAll(async () => {
  world = await startWorld({
    limits: {
      headTimeoutMs: 100,
      bodyIdleMs: 100,
      keepAliveMs: 200,
      writeIdleMs: 200,
      upstreamIdleMs: 300,
      lingerMs: 100,
      maxBodyBytes: 1000,
    },
  })
  upstream = startRawUpstream((socket, text) => {
    if (text.includes('GET /ok')) socket.write(ok('fine'))
  })
  await world.publish({
    'a.test': proxyTo(upstream.port),
    'sleeping.test': { kind: 'suspended', serviceId: 'srv-b', name: 'sleeper' },
    'new.test': { kind: 'unavailable', serviceId: 'srv-c', name: 'newcomer' },
  })
})

afterAll(async () => {
  upstream.stop()
  await world.close()
})

const statusOf = (text: string) => Number(text.split(' ')[1])

test('what smuggling needs is answered 400 and nothing of it reaches an instance', async () => {
  const before = upstream.received()
  const smuggled = [
    'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    'GET / HTTP/1.1\nHost: a.test\n\n',
    'GET / HTTP/1.1\r\nHost: a.test\r\nX: a\r\n b\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n',
    'GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n',
  ]
  for (const request of smuggled) {
    const { text } = await exchangeRaw(world.port, request)
    expect(statusOf(text)).toBe(400)
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  }
  expect(upstream.received()).toBe(before)
})

test('an oversized head is a 431 and a long target a 414', async () => {
  expect(statusOf((await exchangeRaw(world.port, `GET / HTTP/1.1\r\nHost: a.test\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`)).text)).toBe(431)
  expect(statusOf((await exchangeRaw(world.port, `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a.test\r\n\r\n`)).text)).toBe(414)
})

test('a head that trickles in is a 408, however often another byte comes', async () => {
  const client = await connectRaw(world.port)
  const trickle = setInterval(() => client.send('X'), 10)
  client.send('GET / HTTP/1.1\r\nX')
  const { text } = await client.closed
  clearInterval(trickle)
  expect(statusOf(text)).toBe(408)
})

test('a body that stops coming is a 408', async () => {
  const { text } = await exchangeRaw(world.port, 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\nabc')
  expect(statusOf(text)).toBe(408)
  await eventually(async () => (await world.client.drainState(`i-${upstream.port}`)).inFlight === 0)
})

test('a broken chunk in the middle of a body is a 400', async () => {
  const { text } = await exchangeRaw(world.port, 'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n')
  expect(statusOf(text)).toBe(400)
})

test('a body beyond the limit is a 413, announced or not', async () => {
  expect(statusOf((await exchangeRaw(world.port, 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1001\r\n\r\n')).text)).toBe(413)
  const chunk = `3e8\r\n${'x'.repeat(1000)}\r\n`
  const { text } = await exchangeRaw(
    world.port,
    `POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`,
  )
  expect(statusOf(text)).toBe(413)
})

test('an idle connection is closed without a word', async () => {
  expect(await exchangeRaw(world.port, '')).toEqual({ text: '', isReset: false })
})

test('an instance that does not answer in time is a 504', async () => {
  const { text } = await exchangeRaw(world.port, 'GET /silent HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
  expect(statusOf(text)).toBe(504)
  expect(text).toContain('shop did not answer in time')
})

const ask = async (host: string, accept: string) =>
  (await exchangeRaw(world.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`)).text

test('an unknown host is a 404 that names it, in the form the client asks for', async () => {
  const html = await ask('nowhere.test', 'text/html,*/*')
  expect(statusOf(html)).toBe(404)
  expect(html).toContain('Content-Type: text/html')
  expect(html).toContain('Nothing is deployed at nowhere.test')
  expect(JSON.parse((await ask('nowhere.test', 'application/json')).split('\r\n\r\n')[1] ?? '')).toMatchObject({ status: 404 })
  expect(await ask('nowhere.test', '*/*')).toContain('Content-Type: text/plain')
})

test('a suspended service and one that is not live are 503 and say when to come again', async () => {
  for (const [host, name] of [
    ['sleeping.test', 'sleeper'],
    ['new.test', 'newcomer'],
  ] as const) {
    const text = await ask(host, '*/*')
    expect(statusOf(text)).toBe(503)
    expect(text).toMatch(/Retry-After: \d+\r\n/)
    expect(text).toContain(name)
  }
})

test('a page of our own keeps the connection for the next request', async () => {
  const client = await connectRaw(world.port)
  client.send(
    'GET / HTTP/1.1\r\nHost: nowhere.test\r\n\r\nHEAD / HTTP/1.1\r\nHost: nowhere.test\r\n\r\nGET /ok HTTP/1.1\r\nHost: a.test\r\n\r\n',
  )
  await client.until((text) => text.endsWith('fine'))
  expect(client.text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 404', 'HTTP/1.1 200'])
  client.kill()
})
