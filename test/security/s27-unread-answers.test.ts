import { afterAll, beforeAll, expect, test } from 'vitest'
import { Unsent } from '../../server/ingress/limits/unsent.ts'
import { exchangeRaw, proxyTo, startWorld, type World } from '../server/ingress/world.ts'
import { until } from '../support/until.ts'

const MIB = 1024 * 1024
const MAX_CLIENTS = 40

let world: World
let upstream: Bun.Server<undefined>

beforeAll(async () => {
  world = await startWorld({ limits: { maxUnsentBytes: 2 * MIB } })
  const large = Buffer.alloc(32 * MIB)
  upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => new Response(new URL(request.url).pathname === '/small' ? 'small' : large),
  })
  await world.publish({ 'a.test': proxyTo(upstream.port ?? 0) })
})
afterAll(async () => {
  await upstream.stop(true)
  await world.close()
})

const limitsOf = (maxUnsentBytes: number) => ({ maxUnsentBytes, maxOpenStreams: 300 })

const askSmall = async () => (await exchangeRaw(world.port, 'GET /small HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')).text

/** Asks and never reads. */
async function deaf(): Promise<Bun.Socket> {
  return Bun.connect({
    hostname: '127.0.0.1',
    port: world.port,
    socket: {
      open(socket) {
        socket.pause()
        socket.write('GET /large HTTP/1.1\r\nHost: a.test\r\n\r\n')
      },
      data() {},
    },
  })
}

test('S27: an address whose clients read nothing gets 503 with Retry-After, and is served again when they have gone', async () => {
  const clients: Bun.Socket[] = []
  const refused = await until('a request is refused', async () => {
    if (clients.length < MAX_CLIENTS) clients.push(await deaf())
    const text = await askSmall()
    return text.startsWith('HTTP/1.1 503') && text
  })
  expect(refused).toMatch(/\r\nRetry-After: \d+\r\n/)
  for (const client of clients) client.terminate()
  await until('it is served again', async () => (await askSmall()).endsWith('small'))
})

test('S27: an address gets half of what is left, so that there is always something for the next one', () => {
  const unsent = new Unsent(limitsOf(30 * MIB), (address) => address === '10.0.0.1')
  const evicted: string[] = []
  const open = (address: string, name: string) => unsent.open(address, () => evicted.push(name))
  const greedy = open('192.0.2.1', 'greedy')
  greedy.set(5 * MIB, 0)
  expect(greedy.isCrowded).toBe(false)
  greedy.set(10 * MIB, 0)
  expect(greedy.isCrowded).toBe(true)
  const neighbour = open('192.0.2.1', 'neighbour')
  expect(evicted).toEqual([])
  neighbour.set(MIB, 0)
  expect(evicted).toEqual(['neighbour'])
  const other = open('2001:db8::1', 'other')
  expect(other.isCrowded).toBe(false)
  other.set(6 * MIB, 0)
  const near = open('2001:db8::2', 'near')
  expect(near.isCrowded).toBe(true)
  const proxy = open('10.0.0.1', 'proxy')
  proxy.set(6 * MIB, 0)
  expect(evicted).toEqual(['neighbour'])
  for (const account of [greedy, neighbour, other, near, proxy]) account.close()
  expect(unsent.totalBytes).toBe(0)
})

test('S27: where many addresses have taken nearly all, the one that keeps most makes room for who keeps little', () => {
  const unsent = new Unsent(limitsOf(256 * MIB), () => false)
  const evicted = new Set<number>()
  for (let index = 0; index < 100; index++) {
    const account = unsent.open(`192.0.2.${index}`, () => {
      evicted.add(index)
      account.close()
    })
    for (let bytes = 0; !account.isCrowded && !evicted.has(index); bytes += 65_536) account.set(bytes, 0)
    expect(unsent.totalBytes).toBeLessThan(256 * MIB)
  }
  const [first] = evicted
  expect(first).toBe(0)
  let isEvicted = false
  const modest = unsent.open('198.51.100.1', () => {
    isEvicted = true
  })
  modest.set(65_536, 0)
  expect(isEvicted).toBe(false)
})

test('S27: requests under way are shared out in the same way', () => {
  const unsent = new Unsent(limitsOf(MIB), () => false)
  const [greedy, neighbour, other] = ['192.0.2.1', '192.0.2.1', '198.51.100.1'].map((address) => unsent.open(address, () => {}))
  greedy?.set(0, 100)
  expect(greedy?.isCrowded).toBe(false)
  greedy?.set(0, 101)
  expect([greedy?.isCrowded, neighbour?.isCrowded, other?.isCrowded]).toEqual([true, true, false])
  greedy?.close()
  expect(neighbour?.isCrowded).toBe(false)
})
