import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eventually, proxyTo, startRawUpstream } from '../world.ts'
import { block, connectHttp2, frame, get, type H2Client, Type, uint32 } from './h2-client.ts'
import { type Http2World, startHttp2World } from './h2-world.ts'

let world: Http2World
let app: ReturnType<typeof startApp>
const clients: H2Client[] = []

/** Echoes WebSocket messages, and sends events as they are asked for. */
function startApp() {
  const tell: { event: ((text: string) => void) | undefined } = { event: undefined }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch(request, server) {
      if (server.upgrade(request, { headers: { 'x-from': 'app' } })) return undefined
      if (new URL(request.url).pathname !== '/events') return new Response('no', { status: 403 })
      const events = new ReadableStream({
        start(controller) {
          controller.enqueue(': hello\n\n')
          tell.event = (text) => controller.enqueue(`data: ${text}\n\n`)
        },
      })
      return new Response(events, { headers: { 'content-type': 'text/event-stream' } })
    },
    websocket: {
      message: (socket, message) => void socket.send(message),
      close: () => {},
    },
  })
  return { server, tell, port: server.port ?? 0 }
}

beforeAll(() => {
  world = startHttp2World({ lingerMs: 300 })
  app = startApp()
  world.publish({ 'a.test': proxyTo(app.port) })
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.kill()
  await eventually(() => world.targets.drainState(`i-${app.port}`).tunnels === 0)
})

afterAll(async () => {
  await app.server.stop(true)
  world.close()
})

const websocket = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...get.slice(1), ['sec-websocket-version', '13']] as const

async function open(): Promise<H2Client> {
  const client = await connectHttp2(world.port)
  clients.push(client)
  return client
}

async function openWebSocket(): Promise<H2Client> {
  const client = await open()
  client.request(1, websocket, { isLast: false })
  expect((await client.head(1))[':status']).toBe('200')
  return client
}

/** A text message as a client sends it, masked with zeros. */
function message(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])
}

const received = ({ frames }: H2Client, streamId: number) =>
  Buffer.concat(frames.filter((f) => f.type === Type.data && f.streamId === streamId).map(({ payload }) => payload))

test('a WebSocket is agreed to with 200 and echoes', async () => {
  const client = await openWebSocket()
  const head = await client.head(1)
  expect(head['sec-websocket-accept']).toBeUndefined()
  expect(head.upgrade).toBeUndefined()
  expect(head['x-from']).toBe('app')
  client.data(1, message('hello'))
  await client.until(() => received(client, 1).toString('latin1') === '\x81\x05hello')
  expect(world.targets.drainState(`i-${app.port}`)).toEqual({ inFlight: 0, tunnels: 1 })
})

test('what a client sends before the agreement reaches the instance behind it', async () => {
  const client = await open()
  client.request(1, websocket, { isLast: false })
  client.data(1, message('early'))
  await client.until(() => received(client, 1).toString('latin1') === '\x81\x05early')
})

test('many messages pass while other streams are served', async () => {
  const client = await openWebSocket()
  const text = 'x'.repeat(120)
  // No more than a stream's window: nothing is read meanwhile where the machine is busy.
  for (let index = 0; index < 2000; index++) client.data(1, message(text))
  client.request(3)
  expect((await client.head(3))[':status']).toBe('403')
  await client.until(() => received(client, 1).length === 2000 * 122)
})

test('a client that closes its side is closed by the instance in its own time', async () => {
  const client = await openWebSocket()
  client.data(1, Buffer.from([0x88, 0x82, 0, 0, 0, 0, 3, 0xe8]), true)
  expect((await client.body(1)).toString('hex')).toBe('880203e8')
  await eventually(() => world.finished.at(-1)?.status === 200)
})

test('a drained tunnel tells its client to come again', async () => {
  const client = await openWebSocket()
  world.targets.closeTunnels(`i-${app.port}`)
  expect((await client.body(1)).toString('hex')).toBe('880203e9')
})

test('a tunnel that is sent trailers is reset', async () => {
  const client = await openWebSocket()
  client.send(frame(Type.headers, 5, 1, block([['x-sum', '1']])))
  expect(await client.resetCode(1)).toBe(1)
})

test('a client that resets its stream frees the instance', async () => {
  const client = await openWebSocket()
  client.send(frame(Type.reset, 0, 1, uint32(8)))
  await eventually(() => world.targets.drainState(`i-${app.port}`).tunnels === 0)
})

test('an instance that does not want to is heard', async () => {
  world.publish({ 'a.test': proxyTo(app.port), 'b.test': proxyTo(startRefusing()) })
  const client = await open()
  client.request(1, [...websocket.slice(0, 3), [':authority', 'b.test'], ...websocket.slice(4)], { isLast: false })
  expect((await client.head(1))[':status']).toBe('403')
  expect((await client.body(1)).toString()).toBe('no')
})

function startRefusing(): number {
  const upstream = startRawUpstream((socket) => void socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno'))
  return upstream.port
}

test('an agreement that does not answer the key is a 502', async () => {
  const upstream = startRawUpstream(
    (socket) =>
      void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n'),
  )
  world.publish({ 'a.test': proxyTo(app.port), 'b.test': proxyTo(upstream.port) })
  const client = await open()
  client.request(1, [...websocket.slice(0, 3), [':authority', 'b.test'], ...websocket.slice(4)], { isLast: false })
  expect((await client.head(1))[':status']).toBe('502')
  expect((await client.body(1)).toString()).toContain('Sec-WebSocket-Accept')
  expect(world.targets.drainState(`i-${upstream.port}`)).toEqual({ inFlight: 0, tunnels: 0 })
  upstream.stop()
})

test('each side of a tunnel closes in its own time', async () => {
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    allowHalfOpen: true,
    socket: {
      data(socket, bytes) {
        const key = /sec-websocket-key: (.*)\r\n/i.exec(bytes.toString())?.[1]
        if (key === undefined) return
        const accept = new Bun.CryptoHasher('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\nfirst `,
        )
      },
      end(socket) {
        socket.write('after your end')
        socket.end()
      },
    },
  })
  world.publish({ 'a.test': proxyTo(app.port), 'b.test': proxyTo(listener.port) })
  const client = await open()
  client.request(1, [...websocket.slice(0, 3), [':authority', 'b.test'], ...websocket.slice(4)], { isLast: false })
  await client.until(() => received(client, 1).toString() === 'first ')
  client.data(1, '', true)
  expect((await client.body(1)).toString()).toBe('first after your end')
  await eventually(() => world.targets.drainState(`i-${listener.port}`).tunnels === 0)
  listener.stop(true)
})

test('events come when they happen', async () => {
  const client = await open()
  client.request(1, [...get.slice(0, 3), [':path', '/events']])
  expect((await client.head(1))['content-type']).toBe('text/event-stream')
  for (const text of ['one', 'two', 'three']) {
    app.tell.event?.(text)
    await client.until(() => received(client, 1).toString().endsWith(`data: ${text}\n\n`))
  }
})
