import { afterAll, beforeAll, expect, test } from 'vitest'
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
} from './bulk.ts'
import { connectRaw, eventually, proxyTo, startWorld, type World } from './world.ts'

const LARGE_BYTES = 100 * MIB

let world: World
let app: ReturnType<typeof startBulkApp>

beforeAll(async () => {
  world = await startWorld()
  app = startBulkApp(LARGE_BYTES)
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
  const source = startFloodingInstance()
  await world.publish({ 'a.test': proxyTo(app.port ?? 0), 'source.test': proxyTo(source.port) })
  const client = await Bun.connect({ hostname: '127.0.0.1', port: world.port, socket: { data() {} } })
  client.pause()
  client.write('GET / HTTP/1.1\r\nHost: source.test\r\n\r\n')
  await expectHeldBack(source.sentBytes)
  client.terminate()
  await eventually(async () => (await world.client.drainState(`i-${source.port}`)).inFlight === 0)
  source.stop()
})

test('an instance that does not read holds the client back', async () => {
  const sink = startDeafInstance()
  await world.publish({ 'a.test': proxyTo(app.port ?? 0), 'sink.test': proxyTo(sink.port) })
  const { pump, sentBytes } = createFlood()
  const client = await Bun.connect({ hostname: '127.0.0.1', port: world.port, socket: { data() {}, drain: pump } })
  client.write(floodHead('sink.test'))
  pump(client)
  await expectHeldBack(sentBytes)
  client.terminate()
  await eventually(async () => (await world.client.drainState(`i-${sink.port}`)).inFlight === 0)
  sink.stop(true)
})

test('WebSocket messages of any size are echoed', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${world.port}/`, { headers } as never)
  await expectEchoes(socket)
  expect(await world.client.drainState(`i-${app.port}`)).toEqual({ inFlight: 0, tunnels: 1 })
  socket.close()
  await eventually(async () => (await world.client.drainState(`i-${app.port}`)).tunnels === 0)
})

test('a tunnel closes each side in its own time', async () => {
  const listener = startHalfClosingInstance()
  await world.publish({ 'a.test': proxyTo(app.port ?? 0), 'raw.test': proxyTo(listener.port) })
  const client = await connectRaw(world.port)
  client.send(tunnelHead('raw.test'))
  await client.until((text) => text.endsWith('first '))
  client.end()
  await client.until((text) => text.endsWith('first after your end'))
  await eventually(async () => (await world.client.drainState(`i-${listener.port}`)).tunnels === 0)
  listener.stop(true)
})
