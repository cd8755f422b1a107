import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectRaw, eventually, ok, proxyTo, startRawUpstream } from '../world.ts'
import { curl, greet, startTlsWorld, type TlsWorld } from './tls-world.ts'

let world: TlsWorld

beforeEach(async () => {
  world = await startTlsWorld({ limits: { headTimeoutMs: 150, lingerMs: 50, maxConnectionsPerAddress: 4 } })
})

afterEach(() => world.close())

const activeConnections = async () => (await world.client.status()).activeConnections

describe.each(['while no challenge is pending', 'while a challenge is pending'])('%s', (when) => {
  beforeEach(async () => {
    const challenges = when.includes('no') ? [] : [await world.tlsChallenge('elsewhere.test')]
    await world.serve([await world.certify('c1', ['a.test'])], { challenges })
  })

  test('clients that say nothing, or one byte now and then, are closed and take room until then', async () => {
    const [silent, slow] = [await connectRaw(world.tlsPort), await connectRaw(world.tlsPort)]
    const trickle = setInterval(() => slow.send(Buffer.from([22])), 20)
    await eventually(async () => (await activeConnections()) === 2)
    await Promise.all([silent.closed, slow.closed])
    clearInterval(trickle)
    await eventually(async () => (await activeConnections()) === 0)
  })

  test('a connection has one number of places, with TLS and without, and one that is refused costs nobody else', async () => {
    const held = [
      await connectRaw(world.tlsPort),
      await connectRaw(world.tlsPort),
      await connectRaw(world.port),
      await connectRaw(world.port),
    ]
    await eventually(async () => (await activeConnections()) === 4)
    expect((await greet(world, 'a.test')).name).toBe(undefined)
    expect((await (await connectRaw(world.port)).closed).text).toBe('')
    held[2]?.kill()
    await eventually(async () => (await activeConnections()) < 4)
    expect((await greet(world, 'a.test')).name).toBe('a.test')
    for (const one of held) one.kill()
  })

  test('clients that leave, reset or talk something else in the middle are forgotten, without a line for each', async () => {
    const before = world.logged.length
    const words = [
      Buffer.from([22, 3, 1]),
      Buffer.from('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n'),
      Buffer.alloc(50_000, 22),
      Buffer.from([22, 3, 1, 0, 2, 1, 0]),
    ]
    for (const bytes of words) {
      for (const leave of ['kill', 'end', 'stay'] as const) {
        const client = await connectRaw(world.tlsPort)
        client.send(bytes)
        if (leave !== 'stay') client[leave]()
        await Promise.race([client.closed, Bun.sleep(50)])
        client.kill()
      }
    }
    await eventually(async () => (await activeConnections()) === 0)
    expect(world.logged.slice(before)).toEqual([])
    expect((await greet(world, 'a.test')).isTrusted).toBe(true)
  })

  test('an agreed connection has its time for a head, and one between two requests closes in peace', async () => {
    const upstream = startRawUpstream((socket) => void socket.write(ok('fine')))
    await world.publish({ 'a.test': proxyTo(upstream.port) })
    expect(await curl(world, `https://a.test:${world.tlsPort}/`, '--http1.1')).toContain('fine')
    await eventually(async () => (await activeConnections()) === 0)
    upstream.stop()
  })

  test('an ingress that ends closes what has not agreed on TLS, and lets its address go', async () => {
    const silent = await connectRaw(world.tlsPort)
    await eventually(async () => (await activeConnections()) === 1)
    await world.client.shutdown()
    await silent.closed
    await world.ingress.closed
    await expect(connectRaw(world.tlsPort)).rejects.toThrow()
  })
})

test('what came to nothing is counted in one line', async () => {
  for (let index = 0; index < 3; index++) (await connectRaw(world.tlsPort)).kill()
  await greet(world, 'unknown.test')
  await eventually(async () => (await activeConnections()) === 0)
  await world.ingress.close()
  expect(world.logged.filter((line) => line.includes('handshakes came to nothing'))).toHaveLength(1)
})
