import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectRaw, eventually, exchangeRaw, ok, proxyTo, startRawUpstream, startWorld, type World } from '../world.ts'

let world: World

beforeEach(async () => {
  world = await startWorld()
})

afterEach(() => world.close())

const startVersion = (version: number) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      await Bun.sleep(2)
      return new Response(`${version} ${(await request.text()).length}`)
    },
  })

test('20 switches under load lose no request, though the old instance is gone 50 ms later', async () => {
  let app = startVersion(0)
  await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
  const seen: number[] = []
  const failures: unknown[] = []
  let isOver = false
  const load = Array.from({ length: 16 }, async (_, worker) => {
    for (let round = 0; !isOver; round++) {
      const isPost = (worker + round) % 3 === 0
      try {
        const answer = await fetch(`http://127.0.0.1:${world.port}/`, {
          headers: { host: 'a.test' },
          ...(isPost ? { method: 'POST', body: 'x'.repeat(2000) } : {}),
        })
        const [version, bytes] = (await answer.text()).split(' ').map(Number)
        if (answer.status !== 200 || bytes !== (isPost ? 2000 : 0)) failures.push(answer.status)
        seen.push(version ?? -1)
      } catch (error) {
        failures.push(error)
      }
    }
  })
  for (let version = 1; version <= 20; version++) {
    const old = app
    app = startVersion(version)
    await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
    await Bun.sleep(50)
    await old.stop(true)
  }
  await Bun.sleep(50)
  isOver = true
  await Promise.all(load)
  await app.stop(true)
  expect(failures).toEqual([])
  expect(new Set(seen).size).toBe(21)
})

test('a request in flight finishes on the old instance while new ones go to the new', async () => {
  let answerOld: () => void = () => {}
  const old = startRawUpstream((socket) => {
    answerOld = () => void socket.write(ok('old'))
  })
  const fresh = startRawUpstream((socket) => void socket.write(ok('new')))
  await world.publish({ 'a.test': proxyTo(old.port) })
  const waiting = await connectRaw(world.port)
  waiting.send('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await eventually(() => old.received() !== '')
  await world.publish({ 'a.test': proxyTo(fresh.port) })
  expect((await exchangeRaw(world.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')).text).toContain('new')
  expect(await world.client.drainState(`i-${old.port}`)).toEqual({ inFlight: 1, tunnels: 0 })
  answerOld()
  await waiting.until((text) => text.endsWith('old'))
  expect(await world.client.drainState(`i-${old.port}`)).toEqual({ inFlight: 0, tunnels: 0 })
  waiting.kill()
  old.stop()
  fresh.stop()
})

test('idle connections to an instance that left the table are closed', async () => {
  let closed = 0
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket) => void socket.write(ok('x')),
      close() {
        closed++
      },
    },
  })
  await world.publish({ 'a.test': proxyTo(listener.port) })
  await exchangeRaw(world.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
  expect(closed).toBe(0)
  await world.publish({})
  await eventually(() => closed === 1)
  listener.stop(true)
})

test('tunnels are ended with 1001 when they are to be closed', async () => {
  const app = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, server) => (server.upgrade(request) ? undefined : new Response('no')),
    websocket: { message() {} },
  })
  await world.publish({ 'a.test': proxyTo(app.port ?? 0) })
  const socket = new WebSocket(`ws://127.0.0.1:${world.port}/`, { headers: { host: 'a.test' } } as never)
  await new Promise((resolve) => {
    socket.onopen = resolve
  })
  await world.publish({})
  const instanceId = `i-${app.port}`
  expect(await world.client.drainState(instanceId)).toEqual({ inFlight: 0, tunnels: 1 })
  const closed = new Promise<number>((resolve) => {
    socket.onclose = ({ code }) => resolve(code)
  })
  await world.client.closeTunnels(instanceId)
  expect(await closed).toBe(1001)
  expect(await world.client.drainState(instanceId)).toEqual({ inFlight: 0, tunnels: 0 })
  await app.stop(true)
})

test('requests that outstay their time are ended: a 503 before an answer, a cut connection within one', async () => {
  const upstream = startRawUpstream((socket, text) => {
    if (text.includes('/begun')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun')
  })
  await world.publish({ 'a.test': proxyTo(upstream.port) })
  const [silent, begun] = [await connectRaw(world.port), await connectRaw(world.port)]
  silent.send('GET /silent HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
  begun.send('GET /begun HTTP/1.1\r\nHost: a.test\r\n\r\n')
  await begun.until((text) => text.endsWith('begun'))
  await eventually(async () => (await world.client.drainState(`i-${upstream.port}`)).inFlight === 2)
  await world.client.abortRequests(`i-${upstream.port}`)
  expect((await silent.closed).text).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: \d/)
  expect(await begun.closed).toMatchObject({ isReset: true })
  upstream.stop()
})
