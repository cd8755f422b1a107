import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectRaw, eventually, proxyTo, startWorld, type World } from './world.ts'

const MIB = 1024 * 1024
const LARGE_BYTES = 100 * MIB

let world: World
let app: ReturnType<typeof startApp>

/** Hashes what it is sent, and sends as much as it is asked for. */
function startApp() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 2 * LARGE_BYTES,
    idleTimeout: 0,
    async fetch(request, server) {
      if (server.upgrade(request)) return undefined
      if (request.method === 'POST') return Response.json(await digest(request.body))
      return new Response(pattern(Number(new URL(request.url).searchParams.get('bytes'))))
    },
    websocket: { message: (socket, message) => void socket.send(message) },
  })
}

async function digest(body: ReadableStream<Uint8Array> | null): Promise<{ bytes: number; hash: string }> {
  const hasher = new Bun.CryptoHasher('sha1')
  let bytes = 0
  for await (const part of body ?? []) {
    bytes += part.length
    hasher.update(part)
  }
  return { bytes, hash: hasher.digest('hex') }
}

/** A stream that differs from place to place, so that nothing can be lost, doubled or swapped unseen. */
function pattern(totalBytes: number): ReadableStream<Uint8Array> {
  let sent = 0
  return new ReadableStream({
    pull(controller) {
      if (sent >= totalBytes) return controller.close()
      const part = new Uint32Array(MIB / 4).map((_, index) => sent + index * 4)
      controller.enqueue(new Uint8Array(part.buffer).subarray(0, totalBytes - sent))
      sent += MIB
    },
  })
}

beforeAll(async () => {
  world = await startWorld()
  app = startApp()
  await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
})

afterAll(async () => {
  await app.stop(true)
  await world.close()
})

const url = (path: string) => `http://127.0.0.1:${world.port}${path}`
const headers = { host: 'a.test' }

test('100 MiB go up unharmed', async () => {
  const answer = await fetch(url('/'), { method: 'POST', headers, body: pattern(LARGE_BYTES) })
  expect(await answer.json()).toEqual(await digest(pattern(LARGE_BYTES)))
})

test('100 MiB come down unharmed', async () => {
  const answer = await fetch(url(`/?bytes=${LARGE_BYTES}`), { headers })
  expect(await digest(answer.body)).toEqual(await digest(pattern(LARGE_BYTES)))
})

test('a client that does not read holds the instance back instead of filling our memory', async () => {
  let sentBytes = 0
  const part = Buffer.alloc(MIB)
  const pump = (socket: Bun.Socket) => {
    for (let written = part.length; written === part.length && sentBytes < 300 * MIB; ) {
      written = Math.max(0, socket.write(part))
      sentBytes += written
    }
  }
  const source = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        pump(socket)
      },
      drain: pump,
    },
  })
  await world.publish({ 'a.test': proxyTo(app.port ?? 0), 'source.test': proxyTo(source.port) })
  const client = await Bun.connect({ hostname: '127.0.0.1', port: world.port, socket: { data() {} } })
  client.pause()
  client.write('GET / HTTP/1.1\r\nHost: source.test\r\n\r\n')
  let before = -1
  await eventually(async () => {
    const isStill = sentBytes > 0 && sentBytes === before
    before = sentBytes
    await Bun.sleep(100)
    return isStill
  })
  expect(sentBytes).toBeLessThan(64 * MIB)
  client.terminate()
  await eventually(async () => (await world.client.drainState(`i-${source.port}`)).inFlight === 0)
  source.stop(true)
})

test('an instance that does not read holds the client back', async () => {
  const sink = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open: (socket) => void socket.pause(), data() {} } })
  await world.publish({ 'a.test': proxyTo(app.port ?? 0), 'sink.test': proxyTo(sink.port) })
  let sentBytes = 0
  const part = Buffer.alloc(MIB)
  const pump = (socket: Bun.Socket) => {
    for (let written = part.length; written === part.length && sentBytes < 300 * MIB; ) {
      written = Math.max(0, socket.write(part))
      sentBytes += written
    }
  }
  const client = await Bun.connect({ hostname: '127.0.0.1', port: world.port, socket: { data() {}, drain: pump } })
  client.write(`POST / HTTP/1.1\r\nHost: sink.test\r\nContent-Length: ${300 * MIB}\r\n\r\n`)
  pump(client)
  let before = -1
  await eventually(async () => {
    const isStill = sentBytes === before
    before = sentBytes
    await Bun.sleep(100)
    return isStill
  })
  expect(sentBytes).toBeLessThan(64 * MIB)
  client.terminate()
  await eventually(async () => (await world.client.drainState(`i-${sink.port}`)).inFlight === 0)
  sink.stop(true)
})

test('WebSocket messages of any size are echoed', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${world.port}/`, { headers } as never)
  socket.binaryType = 'arraybuffer'
  await new Promise((resolve) => {
    socket.onopen = resolve
  })
  for (const size of [0, 1, 125, 126, 70_000, 3 * MIB]) {
    const message = new Uint8Array(size).map((_, index) => index % 251)
    const echoed = new Promise<ArrayBuffer>((resolve) => {
      socket.onmessage = ({ data }) => resolve(data)
    })
    socket.send(message)
    expect(Buffer.from(await echoed).equals(message)).toBe(true)
  }
  expect(await world.client.drainState(`i-${app.port}`)).toEqual({ inFlight: 0, tunnels: 1 })
  socket.close()
  await eventually(async () => (await world.client.drainState(`i-${app.port}`)).tunnels === 0)
})

test('a tunnel closes each side in its own time', async () => {
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    allowHalfOpen: true,
    socket: {
      data(socket, bytes) {
        if (bytes.toString().startsWith('GET'))
          socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\nfirst ')
      },
      end(socket) {
        socket.write('after your end')
        socket.end()
      },
    },
  })
  await world.publish({ 'a.test': proxyTo(app.port ?? 0), 'raw.test': proxyTo(listener.port) })
  const client = await connectRaw(world.port)
  client.send('GET / HTTP/1.1\r\nHost: raw.test\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n')
  await client.until((text) => text.endsWith('first '))
  client.end()
  await client.until((text) => text.endsWith('first after your end'))
  await eventually(async () => (await world.client.drainState(`i-${listener.port}`)).tunnels === 0)
  listener.stop(true)
})
