import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, proxyTo } from '../world.ts'
import { startTlsWorld, type TlsWorld } from './tls-world.ts'

const MIB = 1024 * 1024
const LARGE_BYTES = 48 * MIB

let world: TlsWorld
let app: ReturnType<typeof startApp>

function startApp() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 2 * LARGE_BYTES,
    idleTimeout: 0,
    async fetch(request, server) {
      if (server.upgrade(request)) return undefined
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === '/events') return new Response(events(), { headers: { 'content-type': 'text/event-stream' } })
      if (request.method === 'POST') return Response.json(await digest(request.body))
      return new Response(pattern(Number(searchParams.get('bytes'))))
    },
    websocket: { message: (socket, message) => void socket.send(message) },
  })
}

async function* events(): AsyncGenerator<string> {
  for (let id = 0; id < 3; id++) {
    yield `data: ${id}\n\n`
    await Bun.sleep(20)
  }
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
  world = await startTlsWorld()
  app = startApp()
  await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
})

afterAll(async () => {
  await app.stop(true)
  await world.close()
})

function dial(): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: world.tlsPort, servername: 'a.test', ca: world.root, allowHalfOpen: true }
    const socket = connect(options, () => resolve(socket)).on('error', reject)
  })
}

/** Everything the server says until it ends. */
async function readAll(socket: TLSSocket): Promise<string> {
  let text = ''
  for await (const part of socket.setEncoding('latin1')) text += part
  return text
}

describe.each(['while no challenge is pending', 'while a challenge is pending'])('%s', (when) => {
  const tls = { tls: { ca: '', serverName: 'a.test' } }
  const url = (path: string) => `https://127.0.0.1:${world.tlsPort}${path}`
  const headers = { host: 'a.test' }

  beforeAll(async () => {
    tls.tls.ca = world.root
    const challenges = when.includes('no') ? [] : [await world.tlsChallenge('elsewhere.test')]
    await world.serve([await world.certify('c1', ['a.test', '127.0.0.1'])], { challenges })
  })

  test('large bodies go up and come down unharmed', async () => {
    const wanted = await digest(pattern(LARGE_BYTES))
    const up = await fetch(url('/'), { method: 'POST', headers, body: pattern(LARGE_BYTES), ...tls })
    expect(await up.json()).toEqual(wanted)
    const down = await fetch(url(`/?bytes=${LARGE_BYTES}`), { headers, ...tls })
    expect(await digest(down.body)).toEqual(wanted)
  })

  test('a client that does not read holds the instance back', async () => {
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
    await world.publish({ 'a.test': proxyTo(source.port) })
    const client = await dial()
    client.pause()
    client.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await untilStill(() => sentBytes)
    expect(sentBytes).toBeLessThan(64 * MIB)
    client.destroy()
    await eventually(async () => (await world.client.drainState(`i-${source.port}`)).inFlight === 0)
    source.stop(true)
    await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
  })

  test('an instance that does not read holds the client back', async () => {
    const sink = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { open: (socket) => void socket.pause(), data() {} } })
    await world.publish({ 'a.test': proxyTo(sink.port) })
    let takenBytes = 0
    const part = Buffer.alloc(MIB)
    const pump = (socket: Bun.Socket) => {
      for (let written = part.length; written === part.length && takenBytes < 300 * MIB; ) {
        written = Math.max(0, socket.write(part))
        takenBytes += written
      }
    }
    const client = await Bun.connect({
      hostname: '127.0.0.1',
      port: world.tlsPort,
      ...tls,
      socket: {
        handshake(socket) {
          socket.write(`POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${300 * MIB}\r\n\r\n`)
          pump(socket)
        },
        data() {},
        drain: pump,
      },
    })
    await untilStill(() => takenBytes)
    expect(takenBytes).toBeLessThan(64 * MIB)
    client.terminate()
    await eventually(async () => (await world.client.drainState(`i-${sink.port}`)).inFlight === 0)
    sink.stop(true)
    await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
  })

  test('WebSocket messages of any size are echoed', async () => {
    const socket = new WebSocket(url('/').replace('https', 'wss'), { headers, ...tls } as never)
    socket.binaryType = 'arraybuffer'
    await new Promise((resolve) => {
      socket.onopen = resolve
    })
    for (const size of [0, 1, 126, 70_000, 3 * MIB]) {
      const message = new Uint8Array(size).map((_, index) => index % 251)
      const echoed = new Promise<ArrayBuffer>((resolve) => {
        socket.onmessage = ({ data }) => resolve(data)
      })
      socket.send(message)
      expect(Buffer.from(await echoed).equals(message)).toBe(true)
    }
    socket.close()
    await eventually(async () => (await world.client.drainState(`i-${app.port}`)).tunnels === 0)
  })

  test('events arrive one by one', async () => {
    const answer = await fetch(url('/events'), { headers, ...tls })
    const parts: string[] = []
    for await (const part of answer.body ?? []) parts.push(new TextDecoder().decode(part))
    expect(parts.length).toBeGreaterThan(1)
    expect(parts.join('')).toBe('data: 0\n\ndata: 1\n\ndata: 2\n\n')
  })

  test('an answer is whole before the connection closes, and the client is told that it closes', async () => {
    const client = await dial()
    client.write('GET /?bytes=200000 HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
    expect((await readAll(client)).length).toBeGreaterThan(200_000)
    client.destroy()
  })

  test('a client that closes its side in the middle of a request has given it up', async () => {
    const client = await dial()
    client.write('POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\nabc')
    await eventually(async () => (await world.client.drainState(`i-${app.port}`)).inFlight === 1)
    client.end()
    await eventually(async () => (await world.client.drainState(`i-${app.port}`)).inFlight === 0)
    client.destroy()
  })

  test('a tunnel closes each side in its own time', async () => {
    const raw = Bun.listen({
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
    await world.publish({ 'a.test': proxyTo(raw.port) })
    const client = await dial()
    client.write('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n')
    setTimeout(() => client.end(), 100)
    expect(await readAll(client)).toMatch(/first after your end$/)
    await eventually(async () => (await world.client.drainState(`i-${raw.port}`)).tunnels === 0)
    raw.stop(true)
    await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
  })
})

async function untilStill(value: () => number): Promise<void> {
  let before = -1
  await eventually(async () => {
    const isStill = value() > 0 && value() === before
    before = value()
    await Bun.sleep(150)
    return isStill
  }, 20_000)
}
