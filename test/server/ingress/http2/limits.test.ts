import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, ok, proxyTo, type RawUpstream, startRawUpstream } from '../world.ts'
import { block, connectHttp2, frame, get, type H2Client, settings, Type, uint32 } from './h2-client.ts'
import { type Http2World, startHttp2World } from './h2-world.ts'

const ENHANCE_YOUR_CALM = 11
const MAX_STREAMS = 8

let world: Http2World
let upstream: RawUpstream

beforeAll(() => {
  world = startHttp2World({
    maxStreams: MAX_STREAMS,
    headTimeoutMs: 200,
    keepAliveMs: 300,
    writeIdleMs: 300,
    lingerMs: 200,
    bodyIdleMs: 60_000,
  })
  upstream = startRawUpstream((socket, text) => {
    if (text.includes('GET /wait')) return
    socket.data.received = ''
    if (text.includes('GET /large')) socket.write(ok('x'.repeat(50_000)))
    else socket.write(ok('hello'))
  })
  world.publish({ 'a.test': proxyTo(upstream.port) })
})

afterAll(() => {
  upstream.stop()
  world.close()
})

const wait = [...get.slice(0, 3), [':path', '/wait']] as const
const large = [...get.slice(0, 3), [':path', '/large']] as const

async function served(client: H2Client, streamId: number): Promise<void> {
  client.request(streamId)
  expect((await client.body(streamId)).toString()).toBe('hello')
}

test('the settings tell of the limits and of WebSockets', async () => {
  const client = await connectHttp2(world.port)
  const { payload } = await client.until((frames) => frames.find(({ type, flags }) => type === Type.settings && flags === 0))
  const pairs = Array.from({ length: payload.length / 6 }, (_, index) => [
    payload.readUInt16BE(6 * index),
    payload.readUInt32BE(6 * index + 2),
  ])
  expect(pairs).toEqual([
    [3, MAX_STREAMS],
    [4, 256 * 1024],
    [6, 32 * 1024],
    [8, 1],
    [9, 1],
  ])
  client.kill()
})

test('streams beyond the limit are refused, and taken when others have ended', async () => {
  const client = await connectHttp2(world.port)
  for (let index = 0; index < MAX_STREAMS; index++) client.request(1 + 2 * index, wait)
  client.request(101)
  expect(await client.resetCode(101)).toBe(7)
  client.send(frame(Type.reset, 0, 1, uint32(8)))
  await served(client, 103)
  client.kill()
})

const floods: [string, (index: number) => Buffer][] = [
  ['PING', () => frame(Type.ping, 0, 0, Buffer.alloc(8))],
  ['SETTINGS', () => settings()],
  ['PRIORITY', (index) => frame(Type.priority, 0, 1 + 2 * index, Buffer.from([0, 0, 0, 0, 1]))],
  ['WINDOW_UPDATE', () => frame(Type.windowUpdate, 0, 0, uint32(1))],
  ['an unknown frame', () => frame(99, 0, 0)],
]
test.each(floods)('a flood of %s ends the connection', async (_name, make) => {
  const client = await connectHttp2(world.port)
  client.send(Buffer.concat(Array.from({ length: 5000 }, (_, index) => make(index))))
  expect((await client.goaway()).code).toBe(ENHANCE_YOUR_CALM)
  await client.closed
})

test('a flood of empty DATA ends the connection', async () => {
  const client = await connectHttp2(world.port)
  client.request(1, [[':method', 'POST'], ...get.slice(1)], { isLast: false })
  client.send(Buffer.concat(Array.from({ length: 5000 }, () => frame(Type.data, 0, 1))))
  expect((await client.goaway()).code).toBe(ENHANCE_YOUR_CALM)
  await client.closed
})

test('streams that are begun and broken off without end, end the connection, and nothing stays behind', async () => {
  const client = await connectHttp2(world.port)
  for (let index = 0; index < 1000; index++)
    client.send(frame(1, 5, 1 + 2 * index, block(wait)), frame(Type.reset, 0, 1 + 2 * index, uint32(8)))
  expect((await client.goaway()).code).toBe(ENHANCE_YOUR_CALM)
  await client.closed
  await eventually(() => world.targets.drainState(`i-${upstream.port}`).inFlight === 0)
})

test('streams that we are made to reset count as well', async () => {
  const client = await connectHttp2(world.port)
  for (let index = 0; index < 1000; index++)
    client.send(frame(1, 5, 1 + 2 * index, block(wait)), frame(Type.windowUpdate, 0, 1 + 2 * index, uint32(0)))
  expect((await client.goaway()).code).toBe(ENHANCE_YOUR_CALM)
  await client.closed
})

test('many requests that are answered are no flood', async () => {
  const client = await connectHttp2(world.port)
  for (let index = 0; index < 1500; index++) await served(client, 1 + 2 * index)
  client.kill()
})

test.each([
  ['endless continuations', Buffer.alloc(1000, 0)],
  ['empty continuations', Buffer.alloc(0)],
])('%s end the connection', async (_name, part) => {
  const client = await connectHttp2(world.port)
  client.send(frame(1, 1, 1, block(get)), Buffer.concat(Array.from({ length: 500 }, () => frame(Type.continuation, 0, 1, part))))
  expect((await client.goaway()).code).toBe(ENHANCE_YOUR_CALM)
  await client.closed
})

test('a head in a few continuations is taken', async () => {
  const client = await connectHttp2(world.port)
  const bytes = block(get)
  client.send(frame(1, 1, 1, bytes.subarray(0, 3)), frame(9, 0, 1, bytes.subarray(3, 5)), frame(9, 4, 1, bytes.subarray(5)))
  expect((await client.body(1)).toString()).toBe('hello')
  client.kill()
})

test('a client that reads nothing cannot make us keep answers without end: it is cut off', async () => {
  const client = await connectHttp2(world.port)
  client.pause()
  const before = world.connections.size
  for (let round = 0; round < 200; round++)
    client.send(Buffer.concat(Array.from({ length: 500 }, () => frame(Type.ping, 0, 0, Buffer.alloc(8)))))
  await eventually(() => world.connections.size < before)
  client.kill()
})

test('a client that does not read its answers is cut off in time', async () => {
  const client = await connectHttp2(world.port, [[4, 0x7fff_ffff]], false)
  client.send(frame(Type.windowUpdate, 0, 0, uint32(0x7000_0000)))
  client.pause()
  const before = world.connections.size
  for (let index = 0; index < 400; index++) {
    client.request(1 + 2 * index, large)
    if (index % MAX_STREAMS === 0) await Bun.sleep(5)
  }
  await eventually(() => world.connections.size < before)
  client.kill()
})

test('a stream whose window stays closed is given up in time, and the others go on', async () => {
  const client = await connectHttp2(world.port, [[4, 10]], false)
  client.request(1, large)
  expect(await client.resetCode(1)).toBe(8)
  await served(client, 3)
  client.kill()
})

test('a connection that says nothing, or half of something, is closed in time', async () => {
  const silent = await connectHttp2(world.port)
  const half = await connectHttp2(world.port)
  half.send(frame(1, 1, 1, block(get)))
  const cut = await connectHttp2(world.port)
  cut.send(frame(1, 5, 1, block(get)).subarray(0, 12))
  for (const client of [silent, half, cut]) {
    expect((await client.goaway()).code).toBe(0)
    await client.closed
  }
})

test('what is not HTTP/2 is told so and closed', async () => {
  const texts: string[] = []
  const closed = Promise.withResolvers<void>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: world.port,
    socket: { data: (_socket, bytes) => void texts.push(bytes.toString('latin1')), close: () => closed.resolve() },
  })
  socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await closed.promise
  expect(texts.join('')).toContain('this is not HTTP/2')
})

test('an ending connection lets the client know first and serves what was on its way', async () => {
  const client = await connectHttp2(world.port)
  await served(client, 1)
  client.request(3, wait)
  await eventually(() => world.targets.drainState(`i-${upstream.port}`).inFlight === 1)
  for (const connection of world.connections) connection.closeWhenIdle()
  const first = await client.goaway()
  expect(first).toEqual({ code: 0, lastStreamId: 0x7fff_ffff })
  await served(client, 5)
  const ping = client.frames.find(({ type, flags }) => type === Type.ping && flags === 0)
  client.send(frame(Type.ping, 1, 0, ping?.payload))
  await client.until((frames) => frames.filter(({ type }) => type === Type.goaway).length === 2)
  expect(await client.goaway()).toEqual({ code: 0, lastStreamId: 5 })
  client.request(7)
  client.request(9, [[':method', 'POST'], ...get.slice(1)], { isLast: false })
  client.data(9, 'late', true)
  client.send(frame(Type.ping, 0, 0, Buffer.alloc(8, 1)))
  await client.until((frames) => frames.some(({ type, payload }) => type === Type.ping && payload[0] === 1))
  client.send(frame(Type.reset, 0, 3, uint32(8)))
  await client.closed
  expect(client.frames.some(({ streamId }) => streamId > 5)).toBe(false)
})

test('an ending connection without requests is closed, even if the client does not answer the PING', async () => {
  const client = await connectHttp2(world.port)
  await served(client, 1)
  for (const connection of world.connections) connection.closeWhenIdle()
  await client.closed
  expect(await client.goaway()).toEqual({ code: 0, lastStreamId: 1 })
})
