import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomFrom } from './random.ts'
import { type StrictInstance, startStrictInstance } from './strict-instance.ts'
import { connectRaw, exchangeRaw, proxyTo, startWorld, type World } from './world.ts'

const ROUNDS = 400
const AT_ONCE = 16

let world: World
let upstream: StrictInstance

beforeAll(async () => {
  world = await startWorld({ limits: { headTimeoutMs: 100, bodyIdleMs: 100, keepAliveMs: 100, lingerMs: 50, upstreamIdleMs: 300 } })
  upstream = startStrictInstance(() => 'answer')
  await world.publish({ 'a.test': proxyTo(upstream.port) })
})

afterAll(async () => {
  upstream.stop()
  await world.close()
})

const seeds = [
  'GET /one HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 1.2.3.4\r\nConnection: keep-alive, X-A\r\nX-A: b\r\n\r\n',
  'POST /two HTTP/1.1\r\nHost: a.test\r\nContent-Length: 12\r\n\r\nhello\r\n\r\nyou',
  'PUT /three HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n1;x=y\r\n!\r\n0\r\nX-Sum: 5\r\n\r\n',
  'GET /ws HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
]
const spices = ['\r', '\n', '\0', ' ', '\t', ':', ',', ';', '\r\n', '\r\n\r\n', '\x0b', '\xff', '0', 'f', 'X: y\r\n']
const headers = [
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: x\r\n',
  'Host: b\r\n',
  'Connection: Content-Length\r\n',
  ' folded\r\n',
]

test('whatever clients send, instances get strict HTTP, and the ingress lives on', async () => {
  const random = randomFrom(7)
  for (let round = 0; round < ROUNDS; round += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => sendInPieces(mutated(random), random)))
  }
  expect(upstream.broken).toEqual([])
  expect(upstream.whole()).toBeGreaterThan(ROUNDS / 2)
  const { text } = await exchangeRaw(world.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
  expect(text).toContain('answer')
  expect(await world.client.drainState(`i-${upstream.port}`)).toEqual({ inFlight: 0, tunnels: 0 })
  expect(world.logged.filter((line) => line.includes('failed'))).toEqual([])
})

function mutated(random: (below: number) => number): Buffer {
  let text = Array.from({ length: 3 }, () => seeds[random(seeds.length)]).join('')
  for (let change = random(4); change > 0; change--) {
    const at = random(text.length)
    text = text.slice(0, at) + (spices[random(spices.length)] ?? '') + text.slice(at + random(3))
  }
  if (random(3) === 0) text = text.replace('\r\n', `\r\n${headers[random(headers.length)]}`)
  return Buffer.from(text, 'latin1')
}

async function sendInPieces(bytes: Buffer, random: (below: number) => number): Promise<void> {
  const connection = await connectRaw(world.port)
  const cutAt = random(bytes.length)
  connection.send(bytes.subarray(0, cutAt))
  await Bun.sleep(1)
  connection.send(bytes.subarray(cutAt))
  if (random(8) === 0) connection.kill()
  await connection.closed
}
