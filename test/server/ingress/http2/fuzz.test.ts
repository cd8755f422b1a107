import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomFrom } from '../random.ts'
import { type StrictInstance, startStrictInstance } from '../strict-instance.ts'
import { eventually, proxyTo } from '../world.ts'
import { block, connectHttp2, frame, get, post, settings, uint32 } from './h2-client.ts'
import { type Http2World, startHttp2World } from './h2-world.ts'

const ROUNDS = 600
const AT_ONCE = 20
const TIMEOUT_MS = 60_000

let world: Http2World
let upstream: StrictInstance

beforeAll(() => {
  world = startHttp2World({ headTimeoutMs: 100, bodyIdleMs: 100, keepAliveMs: 100, lingerMs: 50, upstreamIdleMs: 300, writeIdleMs: 300 })
  upstream = startStrictInstance((whole) => 'x'.repeat(whole % 3000))
  world.publish({ 'a.test': proxyTo(upstream.port) })
})

afterAll(() => {
  upstream.stop()
  world.close()
})

type Random = (below: number) => number

/** A conversation as a client may have it, its streams numbered from `first` on. */
function conversation(random: Random): Buffer[] {
  const frames: Buffer[] = []
  for (let streamId = 1, left = 2 + random(8); left > 0; left--, streamId += 2) {
    const kind = random(6)
    if (kind < 2) frames.push(frame(1, 5, streamId, block([...get, ['cookie', 'a=b'], ['x-forwarded-for', '1.2.3.4']])))
    else if (kind === 2)
      frames.push(frame(1, 4, streamId, block([...post, ['content-length', '5']])), frame(0, 1, streamId, Buffer.from('hello')))
    else if (kind === 3)
      frames.push(
        frame(1, 4, streamId, block(post)),
        frame(0, 0, streamId, Buffer.alloc(random(20_000) % 16_384)),
        frame(1, 5, streamId, block([['x-sum', '5']])),
      )
    else if (kind === 4)
      frames.push(
        frame(1, 4, streamId, block([[':method', 'CONNECT'], [':protocol', 'websocket'], ...get.slice(1)])),
        frame(0, 0, streamId, Buffer.from('hi')),
      )
    else
      frames.push(
        frame(1, 0x2c, streamId, Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 9]), block(post), Buffer.alloc(1)])),
        frame(3, 0, streamId, uint32(8)),
      )
    if (random(3) === 0) frames.push(frame(6, 0, 0, Buffer.alloc(8)), settings([4, random(100_000)]))
    if (random(3) === 0) frames.push(frame(8, 0, random(2) * streamId, uint32(1 + random(1000))))
  }
  return frames
}

function spoil(frames: Buffer[], random: Random): Buffer {
  const copies = frames.map((bytes) => Buffer.from(bytes))
  for (let change = random(4); change > 0; change--) {
    const at = random(copies.length)
    const bytes = copies[at] ?? Buffer.alloc(0)
    const kind = random(4)
    if (kind === 0) bytes[random(bytes.length)] = random(256)
    else if (kind === 1) copies.splice(at, 1)
    else if (kind === 2) copies.splice(random(copies.length + 1), 0, bytes)
    else bytes[random(Math.min(9, bytes.length))] = random(256)
    if (copies.length === 0) break
  }
  return Buffer.concat(copies)
}

async function converse(random: Random): Promise<void> {
  const client = await connectHttp2(world.port, random(2) === 0 ? [] : [[4, random(2000)]], random(2) === 0)
  const bytes = spoil(conversation(random), random)
  const cutAt = random(bytes.length + 1)
  client.send(bytes.subarray(0, cutAt))
  await Bun.sleep(1)
  client.send(bytes.subarray(cutAt))
  if (random(8) === 0) client.kill()
  await client.closed
}

test(
  'whatever clients send, instances get strict HTTP/1, and the ingress lives on',
  async () => {
    const random = randomFrom(7)
    for (let round = 0; round < ROUNDS; round += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, () => converse(random)))
    expect(upstream.broken).toEqual([])
    expect(upstream.whole()).toBeGreaterThan(ROUNDS)
    expect(world.logged).toEqual([])
    await eventually(() => world.connections.size === 0)
    await eventually(() => {
      const { inFlight, tunnels } = world.targets.drainState(`i-${upstream.port}`)
      return inFlight === 0 && tunnels === 0
    })
    const client = await connectHttp2(world.port)
    client.request(1)
    expect((await client.head(1))[':status']).toBe('200')
    client.kill()
  },
  TIMEOUT_MS,
)
