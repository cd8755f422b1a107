import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TrafficEntry } from '../../../../server/ingress/traffic/counts.ts'
import { connectRaw, eventually, exchangeRaw, ok, proxyTo, type RawUpstream, startRawUpstream, startWorld, type World } from '../world.ts'

let world: World
let upstream: RawUpstream

const BIG = 'x'.repeat(3_000_000)

const answers: Record<string, string> = {
  '/ok': ok('fine'),
  '/made': ok('').replace('200 OK', '201 Created'),
  '/moved': ok('').replace('200 OK', '302 Found'),
  '/missing': ok('no').replace('200 OK', '404 Not Found'),
  '/broken': ok('no').replace('200 OK', '500 Internal Server Error'),
  '/bad-gateway': ok('no').replace('200 OK', '502 Bad Gateway'),
  '/nonsense': 'HTP 200\r\n\r\n',
  '/big': ok(BIG),
  '/head': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n',
}

beforeEach(async () => {
  world = await startWorld({ limits: { connectTimeoutMs: 300, upstreamIdleMs: 150, headTimeoutMs: 100 } })
  upstream = startRawUpstream((socket, text) => {
    if (!text.includes('\r\n\r\n')) return
    const [, path = ''] = text.split(' ', 2)
    if (text.includes('Upgrade: websocket')) {
      if (text.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      else socket.write('echo')
    } else if (path === '/short') socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this')
    else if (path === '/hangs-up') socket.end()
    else if (answers[path] !== undefined) socket.end(answers[path])
  })
  await world.publish({ 'shop.test': proxyTo(upstream.port) })
})

afterEach(async () => {
  upstream.stop()
  await world.close()
})

const ask = (path: string, { host = 'shop.test', method = 'GET', body = '' } = {}) =>
  exchangeRaw(
    world.port,
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )

async function entryOf(serviceId: string, instanceId = ''): Promise<TrafficEntry> {
  const { entries } = await world.client.counters()
  const entry = entries.find((one) => one.serviceId === serviceId && one.instanceId === instanceId)
  if (entry === undefined) throw new Error(`${serviceId} ${instanceId} is not counted`)
  return entry
}
const instance = (): Promise<TrafficEntry> => entryOf('srv-a', `i-${upstream.port}`)
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

describe('a request is counted once, by how it ended', () => {
  const byApp: [string, number][] = [
    ['/ok', 2],
    ['/made', 2],
    ['/moved', 3],
    ['/missing', 4],
    ['/broken', 5],
    ['/bad-gateway', 5],
  ]
  test.each(byApp)('%s of an app', async (path, statusClass) => {
    await ask(path, { method: 'POST', body: 'hello' })
    const entry = await instance()
    expect(entry.byClass.map((count, index) => (index === statusClass ? count - 1 : count))).toEqual([0, 0, 0, 0, 0, 0])
    expect(entry).toMatchObject({
      failures: [0, 0, 0],
      cutOff: 0,
      receivedBytes: 5,
      sentBytes: answers[path]?.split('\r\n\r\n')[1]?.length,
    })
    expect(sum(entry.latency)).toBe(1)
  })

  test('HEAD, without a body', async () => {
    await ask('/head', { method: 'HEAD' })
    expect(await instance()).toMatchObject({ byClass: [0, 0, 1, 0, 0, 0], sentBytes: 0 })
  })

  test.each(['/nonsense', '/hangs-up'])('502 of ours in place of %s', async (path) => {
    expect((await ask(path)).text).toContain(' 502 ')
    expect(await instance()).toMatchObject({ byClass: [0, 0, 0, 0, 0, 1], failures: [1, 0, 0] })
  })

  test('502 of ours for an instance that does not listen', async () => {
    upstream.stop()
    expect((await ask('/ok')).text).toContain(' 502 ')
    expect(await instance()).toMatchObject({ byClass: [0, 0, 0, 0, 0, 1], failures: [1, 0, 0] })
  })

  test('504 of ours for an instance that says nothing', async () => {
    expect((await ask('/silent')).text).toContain(' 504 ')
    expect(await instance()).toMatchObject({ byClass: [0, 0, 0, 0, 0, 1], failures: [0, 0, 1] })
  })

  test('503 of ours for an instance that is to go', async () => {
    const answer = ask('/silent')
    await eventually(() => upstream.received().includes('/silent'))
    await world.client.abortRequests(`i-${upstream.port}`)
    expect((await answer).text).toContain(' 503 ')
    expect(await instance()).toMatchObject({ byClass: [0, 0, 0, 0, 0, 1], failures: [0, 1, 0] })
  })

  test('one whose client left before an answer', async () => {
    const client = await connectRaw(world.port)
    client.send('GET /silent HTTP/1.1\r\nHost: shop.test\r\n\r\n')
    await eventually(() => upstream.received().includes('/silent'))
    client.kill()
    await eventually(async () => (await instance()).byClass[0] === 1)
    expect(await instance()).toMatchObject({ byClass: [1, 0, 0, 0, 0, 0], failures: [0, 0, 0], cutOff: 0, brokenOff: 0 })
    expect(sum((await instance()).latency)).toBe(0)
  })

  test('one whose client left in the middle of the answer', async () => {
    const client = await connectRaw(world.port)
    client.send('GET /big HTTP/1.1\r\nHost: shop.test\r\n\r\n')
    await client.until((text) => text.length > 1000)
    client.kill()
    await eventually(async () => sum((await instance()).byClass) === 1)
    const entry = await instance()
    // The kernel may have taken all of it before the client left.
    if (entry.cutOff === 1) expect(entry).toMatchObject({ byClass: [1, 0, 0, 0, 0, 0], brokenOff: 0 })
    else expect(entry).toMatchObject({ byClass: [0, 0, 1, 0, 0, 0] })
  })

  test('one that the instance broke off', async () => {
    await ask('/short')
    expect(await instance()).toMatchObject({ byClass: [1, 0, 0, 0, 0, 0], failures: [0, 0, 0], cutOff: 1, brokenOff: 1, sentBytes: 9 })
  })

  test('a WebSocket, when it has ended, with its bytes and without a latency', async () => {
    const client = await connectRaw(world.port)
    client.send('GET /ws HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await client.until((text) => text.includes('101'))
    client.send('12345')
    await client.until((text) => text.endsWith('echo'))
    expect(await instance()).toMatchObject({ byClass: [0, 0, 0, 0, 0, 0], tunnels: 1, inFlight: 0 })
    client.kill()
    await eventually(async () => (await instance()).tunnels === 0)
    const entry = await instance()
    expect(entry).toMatchObject({ byClass: [0, 1, 0, 0, 0, 0], receivedBytes: 5, sentBytes: 4, cutOff: 0 })
    expect(sum(entry.latency)).toBe(0)
  })

  test('a static site, under its service', async () => {
    const root = join(world.dir, 'site')
    mkdirSync(root)
    writeFileSync(join(root, 'index.html'), 'hello')
    const site = { kind: 'static' as const, serviceId: 'srv-s', name: 'site', releaseId: 'rel', root, headers: [], rules: [] }
    await world.publish({ 'site.test': site })
    await ask('/', { host: 'site.test' })
    await ask('/none', { host: 'site.test' })
    expect(await entryOf('srv-s')).toMatchObject({ byClass: [0, 0, 1, 0, 1, 0] })
  })

  test('a suspended service, under itself and as no failure of an instance', async () => {
    await world.publish({ 'off.test': { kind: 'suspended', serviceId: 'srv-off', name: 'off' } })
    await ask('/', { host: 'off.test' })
    expect(await entryOf('srv-off')).toMatchObject({ byClass: [0, 0, 0, 0, 0, 1], failures: [0, 0, 0] })
  })

  test('an unknown host and heads that are refused, under no service', async () => {
    await ask('/', { host: 'nobody.test' })
    await exchangeRaw(world.port, 'GET / HTTP/1.1\r\nHost : a\r\n\r\n')
    await exchangeRaw(world.port, `GET / HTTP/1.1\r\nHost: shop.test\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`)
    await exchangeRaw(world.port, 'GET / HTTP/1.1\r\nHost: shop.test\r\n')
    expect(await entryOf('')).toMatchObject({ byClass: [0, 0, 0, 0, 4, 0] })
  })
})

describe('a reader', () => {
  test('is sent what has changed since what it knows', async () => {
    await ask('/ok')
    const first = await world.client.counters()
    expect(first.entries.map(({ instanceId }) => instanceId)).toContain(`i-${upstream.port}`)
    expect((await world.client.counters(first)).entries).toEqual([])
    await ask('/ok')
    const second = await world.client.counters(first)
    expect(second.entries).toMatchObject([{ instanceId: `i-${upstream.port}`, byClass: [0, 0, 2, 0, 0, 0] }])
    // The second answer never came.
    expect((await world.client.counters(first)).entries).toEqual(second.entries)
  })

  test('of another process is sent everything', async () => {
    await ask('/ok')
    const { revision, entries } = await world.client.counters()
    expect((await world.client.counters({ epoch: 'another', revision })).entries).toEqual(entries)
  })

  test('sees requests in flight', async () => {
    const client = await connectRaw(world.port)
    client.send('GET /silent HTTP/1.1\r\nHost: shop.test\r\n\r\n')
    await eventually(() => upstream.received().includes('/silent'))
    expect(await instance()).toMatchObject({ inFlight: 1, tunnels: 0, isGone: false })
    client.kill()
    await eventually(async () => (await instance()).inFlight === 0)
  })

  test('learns the counts of an instance that has left the table, which are forgotten once they are known', async () => {
    await ask('/ok')
    await world.publish({})
    const told = await world.client.counters()
    expect(told.entries).toContainEqual(
      expect.objectContaining({ instanceId: `i-${upstream.port}`, isGone: true, byClass: [0, 0, 1, 0, 0, 0] }),
    )
    expect((await world.client.counters()).entries.length).toBe(told.entries.length)
    expect((await world.client.counters(told)).entries).toEqual([])
    const left = await world.client.counters()
    expect(left.entries.filter(({ serviceId }) => serviceId === 'srv-a')).toEqual([])
  })

  test('sees an instance that left the table as there until its last request is answered', async () => {
    const client = await connectRaw(world.port)
    client.send('GET /silent HTTP/1.1\r\nHost: shop.test\r\n\r\n')
    await eventually(() => upstream.received().includes('/silent'))
    await instance()
    await world.publish({})
    const told = await world.client.counters()
    expect(told.entries).toContainEqual(expect.objectContaining({ instanceId: `i-${upstream.port}`, isGone: false, inFlight: 1 }))
    client.kill()
    await eventually(async () => (await world.client.counters()).entries.some(({ isGone, byClass }) => isGone && byClass[0] === 1))
  })
})

describe('dates', () => {
  test('an answer without a date is given one, and one that has it keeps it', async () => {
    const own = startRawUpstream((socket, text) => {
      if (text.endsWith('\r\n\r\n')) socket.end(ok('', ...(text.includes('/dated') ? ['date: Thu, 01 Jan 2026 00:00:00 GMT'] : [])))
    })
    await world.publish({ 'shop.test': proxyTo(own.port) })
    const given = /\r\nDate: (.*)\r\n/.exec((await ask('/undated')).text)?.[1] ?? ''
    expect(Math.abs(Date.parse(given) - Date.now())).toBeLessThan(60_000)
    expect((await ask('/dated')).text.match(/^date: .*$/gim)).toEqual(['date: Thu, 01 Jan 2026 00:00:00 GMT\r'.trim()])
    own.stop()
  })
})
