import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createFlood,
  digest,
  expectEchoes,
  expectHeldBack,
  floodHead,
  MIB,
  pattern,
  startBulkApp,
  startDeafInstance,
  startFloodingInstance,
  startHalfClosingInstance,
  tunnelHead,
} from '../bulk.ts'
import { eventually, proxyTo } from '../world.ts'
import { startTlsWorld, type TlsWorld } from './tls-world.ts'

const LARGE_BYTES = 48 * MIB

let world: TlsWorld
let app: ReturnType<typeof startBulkApp>

const special = (path: string) =>
  path === '/events' ? new Response(events(), { headers: { 'content-type': 'text/event-stream' } }) : undefined

async function* events(): AsyncGenerator<string> {
  for (let id = 0; id < 3; id++) {
    yield `data: ${id}\n\n`
    await Bun.sleep(20)
  }
}

beforeAll(async () => {
  world = await startTlsWorld()
  app = startBulkApp(LARGE_BYTES, special)
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
    const source = startFloodingInstance()
    await world.publish({ 'a.test': proxyTo(source.port) })
    const client = await dial()
    client.pause()
    client.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await expectHeldBack(source.sentBytes)
    client.destroy()
    await eventually(async () => (await world.client.drainState(`i-${source.port}`)).inFlight === 0)
    source.stop()
    await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
  })

  test('an instance that does not read holds the client back', async () => {
    const sink = startDeafInstance()
    await world.publish({ 'a.test': proxyTo(sink.port) })
    const { pump, sentBytes } = createFlood()
    const client = await Bun.connect({
      hostname: '127.0.0.1',
      port: world.tlsPort,
      ...tls,
      socket: {
        handshake(socket) {
          socket.write(floodHead('a.test'))
          pump(socket)
        },
        data() {},
        drain: pump,
      },
    })
    await expectHeldBack(sentBytes)
    client.terminate()
    await eventually(async () => (await world.client.drainState(`i-${sink.port}`)).inFlight === 0)
    sink.stop(true)
    await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
  })

  test('WebSocket messages of any size are echoed', async () => {
    const socket = new WebSocket(url('/').replace('https', 'wss'), { headers, ...tls } as never)
    await expectEchoes(socket)
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
    const raw = startHalfClosingInstance()
    await world.publish({ 'a.test': proxyTo(raw.port) })
    const client = await dial()
    client.write(tunnelHead('a.test'))
    setTimeout(() => client.end(), 100)
    expect(await readAll(client)).toMatch(/first after your end$/)
    await eventually(async () => (await world.client.drainState(`i-${raw.port}`)).tunnels === 0)
    raw.stop(true)
    await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
  })
})
