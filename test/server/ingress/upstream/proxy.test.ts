import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  connectRaw,
  eventually,
  exchangeRaw,
  ok,
  proxyTo,
  startRawUpstream,
  startWorld,
  type UpstreamScript,
  type World,
} from '../world.ts'

let world: World
const cleanups: (() => void)[] = []

beforeEach(async () => {
  world = await startWorld()
})

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) cleanup()
  await world.close()
})

async function serve(script: UpstreamScript) {
  const upstream = startRawUpstream(script)
  cleanups.push(upstream.stop)
  await world.publish({ 'a.test': proxyTo(upstream.port) })
  return upstream
}

const get = (path: string, ...lines: string[]) =>
  `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
const isWhole = (text: string) => text.includes('\r\n\r\n')

/** Answers each request on a connection with its path. */
const echoPath: UpstreamScript = (socket, text) => {
  const requests = text.split('\r\n\r\n').slice(0, -1)
  for (const request of requests.slice(socket.data.answers)) {
    socket.data.answers++
    socket.write(ok(request.split(' ')[1] ?? ''))
  }
}

test('one client connection and one upstream connection carry request after request', async () => {
  const upstream = await serve(echoPath)
  const client = await connectRaw(world.port)
  for (let index = 0; index < 20; index++) {
    client.send(get(`/${index}`))
    await client.until((text) => text.endsWith(`/${index}`))
  }
  expect(upstream.connectionCount()).toBe(1)
  client.kill()
})

test('pipelined requests are answered in order', async () => {
  await serve(echoPath)
  const { text } = await exchangeRaw(
    world.port,
    `${Array.from({ length: 50 }, (_, index) => get(`/${index}`)).join('')}${get('/last', 'Connection: close')}`,
  )
  expect([...text.matchAll(/\r\n\r\n(\/(?:\d+|last))/g)].map((match) => match[1])).toEqual([
    ...Array.from({ length: 50 }, (_, index) => `/${index}`),
    '/last',
  ])
})

test('the host decides, whatever its case, port and final dot', async () => {
  await serve(echoPath)
  for (const host of ['A.TEST', 'a.test:81', 'a.test.', 'A.test.:8080']) {
    const { text } = await exchangeRaw(world.port, `GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    expect(text).toContain('200 OK')
  }
})

test('chunks, their extensions and trailers pass as they are, both ways', async () => {
  const body = '3;a=b\r\nabc\r\n0\r\nX-Sum: 3\r\n\r\n'
  const upstream = await serve((socket, text) => {
    if (text.endsWith(body)) socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n${body}`)
  })
  const { text } = await exchangeRaw(
    world.port,
    `POST / HTTP/1.1\r\nHost: a.test\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body}`,
  )
  expect(text.endsWith(`\r\n\r\n${body}`)).toBe(true)
  expect(upstream.received()).toContain('TE: trailers\r\n')
})

test('an HTTP/1.0 client gets the payload of a chunked answer and the end of the connection', async () => {
  await serve((socket, text) => {
    if (isWhole(text)) socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n')
  })
  const { text, isReset } = await exchangeRaw(world.port, 'GET / HTTP/1.0\r\nHost: a.test\r\nConnection: keep-alive\r\n\r\n')
  expect(text.split('\r\n\r\n')[1]).toBe('abcde')
  expect(text).not.toContain('chunked')
  expect(isReset).toBe(false)
})

test('Expect: 100-continue and interim responses pass through', async () => {
  await serve((socket, text) => {
    if (text.endsWith('hello')) socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${ok('done')}`)
    else if (isWhole(text)) socket.write('HTTP/1.1 100 Continue\r\n\r\n')
  })
  const client = await connectRaw(world.port)
  client.send('POST / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n')
  await client.until((text) => text === 'HTTP/1.1 100 Continue\r\n\r\n')
  client.send('hello')
  const { text } = await client.closed
  expect(text).toContain('HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK')
  expect(text.endsWith('done')).toBe(true)
})

test('HEAD, 204 and 304 have no body and keep the connection', async () => {
  await serve((socket, text) => {
    const requests = text.split('\r\n\r\n').slice(0, -1)
    for (const request of requests.slice(socket.data.answers)) {
      socket.data.answers++
      if (request.startsWith('HEAD')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n')
      else if (request.startsWith('GET /204')) socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      else if (request.startsWith('GET /304')) socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n')
      else socket.write(ok('end'))
    }
  })
  const { text } = await exchangeRaw(
    world.port,
    get('/').replace('GET', 'HEAD') + get('/204') + get('/304') + get('/', 'Connection: close'),
  )
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 204', 'HTTP/1.1 304', 'HTTP/1.1 200'])
  expect(text.endsWith('end')).toBe(true)
})

test('events reach the client one by one, as they are sent', async () => {
  let send: (text: string) => void = () => {}
  await serve((socket, text) => {
    if (!isWhole(text)) return
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
    send = (data) => void socket.write(`${data.length.toString(16)}\r\n${data}\r\n`)
  })
  const client = await connectRaw(world.port)
  client.send(get('/events'))
  await client.until(isWhole)
  for (let index = 0; index < 5; index++) {
    send(`data: ${index}\n\n`)
    await client.until((text) => text.includes(`data: ${index}\n\n`))
  }
  client.kill()
  const [instanceId] = [`i-${await portOf()}`]
  await eventually(async () => (await world.client.drainState(instanceId)).inFlight === 0)
})

async function portOf(): Promise<string> {
  const saved: { hosts: Record<string, { targets: { port: number }[] }> } = await Bun.file(world.routesFilePath).json()
  return String(saved.hosts['a.test']?.targets[0]?.port)
}

test('an answer cut off by the instance is never passed on as whole', async () => {
  await serve((socket, text) => {
    if (!isWhole(text)) return
    const framing = text.includes('/chunked') ? 'Transfer-Encoding: chunked\r\n\r\n64\r\n' : 'Content-Length: 100\r\n\r\n'
    socket.end(`HTTP/1.1 200 OK\r\n${framing}only this`)
  })
  for (const path of ['/length', '/chunked']) {
    const { text, isReset } = await exchangeRaw(world.port, get(path))
    expect(isReset).toBe(true)
    expect(text.endsWith('0\r\n\r\n')).toBe(false)
  }
})

test('an answer that is delimited by the end of the connection is whole only when that end is orderly', async () => {
  await serve((socket, text) => {
    if (!isWhole(text)) return
    if (text.includes('/orderly')) socket.end('HTTP/1.1 200 OK\r\n\r\nall of it')
    else {
      socket.write('HTTP/1.1 200 OK\r\n\r\nsome of it')
      setTimeout(() => socket.terminate(), 20)
    }
  })
  expect(await exchangeRaw(world.port, get('/orderly'))).toMatchObject({
    isReset: false,
    text: expect.stringMatching(/Connection: close\r\n\r\nall of it$/),
  })
  expect(await exchangeRaw(world.port, get('/reset'))).toMatchObject({ isReset: true })
})

test('an instance that closes without an answer is a 502 that names the service', async () => {
  await serve((socket) => void socket.terminate())
  const { text } = await exchangeRaw(world.port, get('/', 'Connection: close'))
  expect(text).toContain('HTTP/1.1 502 Bad Gateway')
  expect(text).toContain('shop closed the connection without an answer')
})

test('an answer that is not valid HTTP is a 502, and nothing of it is passed on', async () => {
  await serve(
    (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\nX-Evil: 1\r\n\r\n0\r\n\r\n'),
  )
  const { text } = await exchangeRaw(world.port, get('/', 'Connection: close'))
  expect(text).toContain('502 Bad Gateway')
  expect(text).not.toContain('X-Evil')
})

test('a pooled connection that died is replaced for a request that may be repeated, and for no other', async () => {
  const upstream = await serve((socket, text) => {
    if (!isWhole(text)) return
    if (socket.data.answers++ === 0) socket.write(ok('first'))
    else socket.terminate()
  })
  const client = await connectRaw(world.port)
  client.send(get('/1'))
  await client.until((text) => text.endsWith('first'))
  client.send(get('/2'))
  await client.until((text) => text.match(/first/g)?.length === 2)
  expect(upstream.connectionCount()).toBe(2)
  client.send('POST /3 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\nx')
  await client.until((text) => text.includes('502 Bad Gateway'))
  expect(upstream.connectionCount()).toBe(2)
  client.kill()
})

test('an instance that refuses connections is passed over, whatever the method', async () => {
  const upstream = startRawUpstream((socket, text) => {
    if (text.endsWith('x')) socket.write(ok('here'))
  })
  cleanups.push(upstream.stop)
  const gone = startRawUpstream(() => {})
  gone.stop()
  await world.publish({ 'a.test': proxyTo(gone.port, upstream.port) })
  for (let index = 0; index < 4; index++) {
    const { text } = await exchangeRaw(world.port, 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx')
    expect(text).toContain('200 OK')
  }
  await world.publish({ 'a.test': proxyTo(gone.port) })
  const { text } = await exchangeRaw(world.port, get('/', 'Connection: close'))
  expect(text).toContain('502 Bad Gateway')
  expect(text).toContain('shop cannot be reached')
})

test('requests go to the least busy instance', async () => {
  const busy = startRawUpstream(() => {})
  const free = startRawUpstream(echoPath)
  cleanups.push(busy.stop, free.stop)
  await world.publish({ 'a.test': proxyTo(busy.port) })
  const waiting = await connectRaw(world.port)
  waiting.send(get('/'))
  await eventually(() => busy.connectionCount() === 1)
  await world.publish({ 'a.test': proxyTo(busy.port, free.port) })
  for (let index = 0; index < 5; index++) await exchangeRaw(world.port, get('/', 'Connection: close'))
  expect(busy.connectionCount()).toBe(1)
  waiting.kill()
})

test('a client that goes away takes its request with it', async () => {
  let isClosed = false
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data() {},
      close() {
        isClosed = true
      },
    },
  })
  cleanups.push(() => listener.stop(true))
  await world.publish({ 'a.test': proxyTo(listener.port) })
  const client = await connectRaw(world.port)
  client.send(get('/'))
  await eventually(async () => (await world.client.drainState(`i-${listener.port}`)).inFlight === 1)
  client.end()
  await eventually(() => isClosed)
  expect(await world.client.drainState(`i-${listener.port}`)).toEqual({ inFlight: 0, tunnels: 0 })
})

test('an answer before the request is whole is delivered, and the connection closed', async () => {
  await serve((socket, text) => {
    if (isWhole(text) && socket.data.answers++ === 0) socket.write('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno')
  })
  const { text, isReset } = await exchangeRaw(
    world.port,
    `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(500_000)}`,
  )
  expect(text).toContain('401 Unauthorized')
  expect(text).toContain('Connection: close')
  expect(isReset).toBe(false)
})
