import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectHeldBack, MIB, startDeafInstance, startFloodingInstance } from '../bulk.ts'
import { eventually, ok, proxyTo, type RawUpstream, startRawUpstream } from '../world.ts'
import { connectHttp2, frame, get, post, settings, Type, uint32 } from './h2-client.ts'
import { type Http2World, startHttp2World } from './h2-world.ts'

const LARGE_VALUE_BYTES = 20_000

let world: Http2World
let upstream: RawUpstream
let hosts: Parameters<Http2World['publish']>[0]

beforeAll(() => {
  world = startHttp2World()
  upstream = startRawUpstream((socket, text) => {
    socket.data.received = ''
    if (text.startsWith('HEAD')) socket.write(ok('', `X-Large: ${'v'.repeat(LARGE_VALUE_BYTES)}`))
    else socket.write(ok((text.split(' ')[1] ?? '').slice(1).repeat(1000)))
  })
  hosts = { 'a.test': proxyTo(upstream.port) }
  world.publish(hosts)
})

afterAll(() => {
  upstream.stop()
  world.close()
})

const at = (path: string) => [...get.slice(0, 3), [':path', path]] as const
const dataOf = (frames: { type: number; streamId: number; payload: Buffer }[], streamId: number) =>
  frames.filter((f) => f.type === Type.data && f.streamId === streamId).reduce((sum, { payload }) => sum + payload.length, 0)

test('no more is sent than the window of a stream allows, and the rest when it opens', async () => {
  const client = await connectHttp2(world.port, [[4, 100]], false)
  client.request(1, at('/ab'))
  await client.until((frames) => dataOf(frames, 1) === 100)
  client.send(frame(Type.windowUpdate, 0, 1, uint32(50)))
  await client.until((frames) => dataOf(frames, 1) === 150)
  client.send(frame(Type.windowUpdate, 0, 1, uint32(10_000)))
  expect((await client.body(1)).toString()).toBe('ab'.repeat(1000))
  client.kill()
})

test('a window that is made smaller afterwards goes below zero and must be opened further', async () => {
  const client = await connectHttp2(world.port, [[4, 500]], false)
  client.request(1, at('/ab'))
  await client.until((frames) => dataOf(frames, 1) === 500)
  client.send(settings([4, 100]))
  await client.until((frames) => frames.filter(({ type, flags }) => type === Type.settings && flags === 1).length === 2)
  client.send(frame(Type.windowUpdate, 0, 1, uint32(400)), frame(Type.ping, 0, 0, Buffer.alloc(8)))
  await client.until((frames) => frames.some(({ type, flags }) => type === Type.ping && flags === 1))
  expect(dataOf(client.frames, 1)).toBe(500)
  client.send(frame(Type.windowUpdate, 0, 1, uint32(1)))
  await client.until((frames) => dataOf(frames, 1) === 501)
  client.send(settings([4, 5000]))
  expect((await client.body(1)).toString()).toBe('ab'.repeat(1000))
  client.kill()
})

test('a head larger than a frame is continued in others', async () => {
  const client = await connectHttp2(world.port)
  client.request(1, [[':method', 'HEAD'], ...get.slice(1)])
  const last = await client.until((frames) => frames.find(({ type, flags }) => type === Type.continuation && flags === 4))
  const first = client.frames.find(({ type, streamId }) => type === Type.headers && streamId === 1)
  expect(first?.flags).toBe(1)
  expect(Buffer.concat([first?.payload ?? Buffer.alloc(0), last.payload]).toString('latin1')).toContain('v'.repeat(LARGE_VALUE_BYTES))
  client.kill()
})

test('the window of the connection is shared by turns', async () => {
  const client = await connectHttp2(world.port, [[4, 0]], false)
  for (const streamId of [1, 3, 5]) client.request(streamId, at(`/${'x'.repeat(100)}`))
  for (const streamId of [1, 3, 5]) await client.head(streamId)
  client.send(settings([4, MIB]))
  await client.until(
    (frames) => frames.filter(({ type }) => type === Type.data).reduce((sum, { payload }) => sum + payload.length, 0) === 65_535,
  )
  const before = [1, 3, 5].map((streamId) => dataOf(client.frames, streamId))
  expect(Math.max(...before) - Math.min(...before)).toBeLessThanOrEqual(2 * 16_384)
  client.send(frame(Type.windowUpdate, 0, 0, uint32(MIB)))
  for (const streamId of [1, 3, 5]) expect((await client.body(streamId)).length).toBe(100_000)
  client.kill()
})

test('a window beyond the largest breaks its stream, that of the connection all', async () => {
  const client = await connectHttp2(world.port, [[4, 0]], false)
  client.request(1, at('/ab'))
  await client.head(1)
  client.send(frame(Type.windowUpdate, 0, 1, uint32(0x7fff_ffff)), frame(Type.windowUpdate, 0, 1, uint32(1)))
  expect(await client.resetCode(1)).toBe(3)
  client.send(frame(Type.windowUpdate, 0, 0, uint32(0x7fff_ffff)))
  expect((await client.goaway()).code).toBe(3)
  await client.closed
})

test('a client that sends more than its window breaks its stream', async () => {
  const sink = startDeafInstance()
  world.publish({ ...hosts, 'sink.test': proxyTo(sink.port) })
  const client = await connectHttp2(world.port)
  client.request(1, [...post.slice(0, 2), [':authority', 'sink.test'], [':path', '/']], { isLast: false })
  client.data(1, Buffer.alloc(8 * MIB))
  const code = await Promise.race([client.resetCode(1), client.goaway().then(({ code }) => code)])
  expect(code).toBe(3)
  client.kill()
  sink.stop(true)
})

test('an instance that does not read holds its stream back, and no other', async () => {
  const sink = startDeafInstance()
  world.publish({ ...hosts, 'sink.test': proxyTo(sink.port) })
  const client = await connectHttp2(world.port)
  client.request(1, [...post.slice(0, 2), [':authority', 'sink.test'], [':path', '/']], { isLast: false })
  let window = 256 * 1024
  let seen = 0
  let sentBytes = 0
  const openedBy = () =>
    client.frames.filter((f) => f.type === Type.windowUpdate && f.streamId === 1).reduce((sum, f) => sum + f.payload.readUInt32BE(), 0)
  for (let still = 0; still < 10; ) {
    if (window >= 16_384) {
      client.data(1, Buffer.alloc(16_384))
      window -= 16_384
      sentBytes += 16_384
      still = 0
    } else {
      still++
    }
    await Bun.sleep(10)
    window += openedBy() - seen
    seen = openedBy()
  }
  expect(sentBytes).toBeLessThan(16 * MIB)
  client.request(3, at('/ab'))
  expect((await client.body(3)).toString()).toBe('ab'.repeat(1000))
  client.kill()
  await eventually(() => world.targets.drainState(`i-${sink.port}`).inFlight === 0)
  sink.stop(true)
})

test('a client that takes nothing of one stream holds its instance back, and gets the others', async () => {
  const source = startFloodingInstance()
  world.publish({ ...hosts, 'source.test': proxyTo(source.port) })
  const client = await connectHttp2(world.port, [[4, 3000]], false)
  client.request(1, [...get.slice(0, 2), [':authority', 'source.test'], [':path', '/']])
  await client.head(1)
  await expectHeldBack(source.sentBytes)
  expect(dataOf(client.frames, 1)).toBe(3000)
  client.request(3, at('/ab'))
  expect((await client.body(3)).toString()).toBe('ab'.repeat(1000))
  client.kill()
  await eventually(() => world.targets.drainState(`i-${source.port}`).inFlight === 0)
  source.stop()
})

test('data that waits in tiny frames does not keep alive what came with it', async () => {
  const sink = startDeafInstance()
  world.publish({ ...hosts, 'sink.test': proxyTo(sink.port) })
  const client = await connectHttp2(world.port)
  client.request(1, [...post.slice(0, 2), [':authority', 'sink.test'], [':path', '/']], { isLast: false })
  for (let index = 0; index < 200; index++) client.send(frame(Type.data, 0, 1, Buffer.alloc(1)), frame(99, 0, 0, Buffer.alloc(16_000)))
  client.send(frame(Type.ping, 0, 0, Buffer.alloc(8)))
  await client.until((frames) => frames.some(({ type, flags }) => type === Type.ping && flags === 1))
  client.kill()
  sink.stop(true)
})
