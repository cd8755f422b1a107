import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, ok, proxyTo, type RawUpstream, startRawUpstream } from '../world.ts'
import { block, connectHttp2, frame, get, type H2Client, post, settings, Type, uint32 } from './h2-client.ts'
import { type Http2World, startHttp2World } from './h2-world.ts'

let world: Http2World
let upstream: RawUpstream
let received: string[] = []

/** Answers by path; what it has received is kept whole. */
const answers: Record<string, string> = {
  '/': ok('hello', 'Content-Type: text/plain', 'Connection: X-Hop', 'X-Hop: secret', 'Keep-Alive: timeout=5'),
  '/chunked': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n',
  '/trailers': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 5\r\nX-B: c\r\n\r\n',
  '/early': `HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n${ok('hello')}`,
  '/none': 'HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n',
  '/old': 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 5\r\n\r\n',
  '/cut': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello',
  '/cut-chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
  '/close': 'HTTP/1.0 200 OK\r\n\r\nhello',
  '/broken': 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
  '/cookies': ok('', 'Set-Cookie: a=1', 'Set-Cookie: b=2'),
}

beforeAll(() => {
  world = startHttp2World({ maxBodyBytes: 100_000, bodyIdleMs: 300, lingerMs: 300, maxHeadBytes: 8192 })
  upstream = startRawUpstream((socket, text) => {
    if (!/\r\n\r\n/.test(text)) return
    const isWhole = /transfer-encoding: chunked/i.test(text) ? text.endsWith('0\r\n\r\n') || /0\r\n.*: .*\r\n\r\n$/.test(text) : true
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    if (!isWhole || text.length - text.indexOf('\r\n\r\n') - 4 < length) return
    received.push(text)
    socket.data.received = ''
    const path = text.split(' ')[1] ?? ''
    const answer = answers[path] ?? ok('')
    socket.write(text.startsWith('HEAD') ? answer.slice(0, answer.indexOf('\r\n\r\n') + 4) : answer)
    if (path.startsWith('/cut') || path === '/close') socket.end()
  })
  world.publish({ 'a.test': proxyTo(upstream.port) })
})

afterAll(() => {
  upstream.stop()
  world.close()
})

async function open(): Promise<H2Client> {
  received = []
  return connectHttp2(world.port)
}

const at = (path: string, method = 'GET') => [[':method', method], ...get.slice(1, 3), [':path', path]] as const

test('a request is answered, without what belongs to the connection behind', async () => {
  const client = await open()
  client.request(1)
  expect(await client.head(1)).toEqual({ ':status': '200', 'content-type': 'text/plain', 'content-length': '5', date: expect.any(String) })
  expect((await client.body(1)).toString()).toBe('hello')
  expect(received[0]).toMatch(/^GET \/ HTTP\/1\.1\r\nhost: a\.test\r\nX-Forwarded-For: 127\.0\.0\.1\r\nX-Forwarded-Proto: http\r\n/)
  client.kill()
})

test.each([
  ['/chunked', 'hello world'],
  ['/close', 'hello'],
])('the body of %s comes as its payload alone', async (path, body) => {
  const client = await open()
  client.request(1, at(path))
  expect((await client.head(1))['transfer-encoding']).toBeUndefined()
  expect((await client.body(1)).toString()).toBe(body)
  client.kill()
})

test('trailers of the instance come behind the data and end the stream', async () => {
  const client = await open()
  client.request(1, at('/trailers'))
  expect((await client.body(1)).toString()).toBe('hello')
  const last = client.frames.findLast(({ streamId }) => streamId === 1)
  expect([last?.type, last?.flags, last?.fields]).toEqual([Type.headers, 5, { 'x-sum': '5', 'x-b': 'c' }])
  client.kill()
})

test('an interim answer comes before the answer', async () => {
  const client = await open()
  client.request(1, at('/early'))
  await client.body(1)
  const statuses = client.frames.filter(({ type }) => type === Type.headers).map(({ fields, flags }) => [fields[':status'], flags])
  expect(statuses).toEqual([
    ['103', 4],
    ['200', 4],
  ])
  client.kill()
})

test.each([
  ['/none', 'GET', { ':status': '204', 'x-a': 'b' }],
  ['/old', 'GET', { ':status': '304', etag: '"a"', 'content-length': '5' }],
  ['/', 'HEAD', { ':status': '200', 'content-type': 'text/plain', 'content-length': '5' }],
])('the answer to %s by %s ends with its head', async (path, method, fields) => {
  const client = await open()
  client.request(1, at(path, method))
  expect(await client.head(1)).toEqual({ ...fields, date: expect.any(String) })
  expect(client.frames.filter(({ streamId }) => streamId === 1).map(({ type, flags }) => [type, flags])).toEqual([[Type.headers, 5]])
  client.kill()
})

test.each(['/cut', '/cut-chunk'])('the answer of %s, which breaks off, is reset and never ended', async (path) => {
  const client = await open()
  client.request(1, at(path))
  expect(await client.resetCode(1)).toBe(2)
  expect(client.frames.some(({ type, flags, streamId }) => streamId === 1 && type <= 1 && (flags & 1) === 1)).toBe(false)
  expect(world.finished.at(-1)).toMatchObject({ isCutOff: true, status: 200 })
  client.kill()
})

test('an answer that is not valid becomes a 502', async () => {
  const client = await open()
  client.request(1, at('/broken'))
  expect((await client.head(1))[':status']).toBe('502')
  client.kill()
})

test('repeated fields stay apart', async () => {
  const client = await open()
  client.request(1, at('/cookies'))
  await client.body(1)
  expect(client.frames.find(({ type }) => type === Type.headers)?.payload.toString('latin1')).toMatch(/a=1.*b=2/)
  client.kill()
})

test('a body of unknown length reaches the instance in chunks, with its trailers', async () => {
  const client = await open()
  client.request(1, post, { isLast: false })
  client.data(1, 'hello')
  client.data(1, ' world')
  client.send(frame(Type.headers, 5, 1, block([['x-sum', '11']])))
  expect((await client.head(1))[':status']).toBe('200')
  const [head = '', body = ''] = received[0]?.split(/(?<=\r\n\r\n)/) ?? []
  expect(head).toContain('transfer-encoding: chunked\r\n')
  expect(body.replaceAll(/[0-9a-f]+\r\n(hello| world|hello world)\r\n/g, '$1')).toBe('hello world0\r\nx-sum: 11\r\n\r\n')
  client.kill()
})

test('a body of known length reaches the instance as it is', async () => {
  const client = await open()
  client.request(1, [...post, ['content-length', '11']], { isLast: false })
  client.data(1, 'hello')
  client.data(1, ' world', true)
  await client.body(1)
  expect(received[0]).toMatch(/content-length: 11\r\n(.*\r\n)*\r\nhello world$/)
  client.kill()
})

test.each([
  ['longer', 'hello'],
  ['shorter', 'h'],
])('a body %s than its length resets the stream and leaves the others', async (_name, body) => {
  const client = await open()
  client.request(1, [...post, ['content-length', '3']], { isLast: false })
  client.data(1, body, true)
  expect(await client.resetCode(1)).toBe(1)
  client.request(3)
  expect((await client.body(3)).toString()).toBe('hello')
  client.kill()
})

test('a body larger than allowed is refused, whether it says so or not', async () => {
  const client = await open()
  client.request(1, [...post, ['content-length', '100001']], { isLast: false })
  expect((await client.head(1))[':status']).toBe('413')
  expect(await client.resetCode(1)).toBe(0)
  client.request(3, post, { isLast: false })
  client.data(3, Buffer.alloc(100_001))
  expect((await client.head(3))[':status']).toBe('413')
  expect(await client.resetCode(3)).toBe(0)
  client.kill()
})

test('a body that does not come is given up with 408', async () => {
  const client = await open()
  client.request(1, post, { isLast: false })
  client.data(1, 'a')
  expect((await client.head(1))[':status']).toBe('408')
  client.kill()
})

test('a head that is too large is answered with 431, and the table still follows', async () => {
  const client = await open()
  const literal = (name: string, value: string) =>
    Buffer.from([0x40, name.length, ...Buffer.from(name), value.length, ...Buffer.from(value)])
  const large = Buffer.alloc(100, 'v').toString()
  const fields = Buffer.concat([block(get), literal('x-large', large), Buffer.alloc(120, 0xbe)])
  client.send(frame(Type.headers, 5, 1, fields))
  expect((await client.head(1))[':status']).toBe('431')
  client.send(frame(Type.headers, 5, 3, Buffer.concat([block(get), Buffer.from([0xbe])])))
  expect((await client.body(3)).toString()).toBe('hello')
  expect(received.at(-1)).toContain(`x-large: ${large}\r\n`)
  client.kill()
})

test('a malformed request resets its stream and is told of', async () => {
  const client = await open()
  const before = world.finished.length
  client.request(1, [...get, ['Upper', 'case']])
  expect(await client.resetCode(1)).toBe(1)
  expect(world.finished.slice(before)).toMatchObject([{ status: 400, method: undefined, protocol: 'HTTP/2' }])
  client.kill()
})

test('each request is told of once, however it ends', async () => {
  const client = await open()
  const before = world.finished.length
  client.request(1)
  await client.body(1)
  client.request(3, post, { isLast: false })
  await eventually(() => upstream.received().includes('transfer-encoding'))
  client.send(frame(Type.reset, 0, 3, uint32(8)))
  client.request(5, post, { isLast: false })
  client.request(7, [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':authority', 'nowhere.test'],
    [':path', '/'],
  ])
  expect((await client.head(7))[':status']).toBe('404')
  client.kill()
  await eventually(() => world.finished.length === before + 4)
  expect(world.finished.slice(before).map(({ method, status, isCutOff }) => [method, status, isCutOff])).toEqual([
    ['GET', 200, false],
    ['POST', 0, true],
    ['GET', 404, false],
    ['POST', 0, true],
  ])
  await eventually(() => world.targets.drainState(`i-${upstream.port}`).inFlight === 0)
})

test('a client whose table grows smaller hears that nothing is in ours', async () => {
  const client = await connectHttp2(world.port, [[1, 0]])
  client.request(1)
  await client.head(1)
  client.send(settings([1, 4096]))
  client.request(3)
  await client.head(3)
  const heads = client.frames.filter(({ type }) => type === Type.headers)
  expect(heads.map(({ payload }) => payload[0])).toEqual([0x20, 0x88])
  client.kill()
})
