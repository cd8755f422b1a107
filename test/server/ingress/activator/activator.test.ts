import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Route } from '../../../../server/ingress/tables/route-table.ts'
import { connectRaw, eventually, exchangeRaw, ok, proxyTo, type RawUpstream, startRawUpstream, startWorld, type World } from '../world.ts'

const never = new AbortController().signal
const asleep: Route = { kind: 'asleep', serviceId: 'srv-a', name: 'shop' }
const get = (path = '/', host = 'a.test') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`

let world: World
let app: RawUpstream

beforeEach(async () => {
  world = await startWorld({ limits: { maxHeldPerService: 150, maxHeld: 200, wakeTimeoutMs: 60_000 } })
  app = startRawUpstream((socket, text) => {
    if (/^POST/.test(text) ? text.endsWith('END') : text.includes('\r\n\r\n')) socket.write(ok('awake'))
  })
  await world.publish({ 'a.test': asleep })
})

afterEach(async () => {
  app.stop()
  await world.close()
})

const held = async () => (await world.client.heldServices(undefined, never)).serviceIds
const wake = () => world.publish({ 'a.test': proxyTo(app.port) })

describe('a request for a service that is asleep', () => {
  test('waits, is told of at once, and goes on when the service is awake', async () => {
    const { revision } = await world.client.heldServices(undefined, never)
    const changes = world.client.heldServices(revision, never)
    const answer = exchangeRaw(world.port, get())
    expect((await changes).serviceIds).toEqual(['srv-a'])
    expect(app.received()).toBe('')
    await wake()
    expect((await answer).text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*awake$/)
    expect(await held()).toEqual([])
  })

  test('is told to a control plane that comes later, and again with each table that leaves it asleep', async () => {
    const answer = exchangeRaw(world.port, get())
    await eventually(async () => (await held()).length === 1)
    const { revision } = await world.client.heldServices(undefined, never)
    const changes = world.client.heldServices(revision, never)
    await world.publish({ 'a.test': asleep, 'b.test': proxyTo(app.port) })
    expect((await changes).serviceIds).toEqual(['srv-a'])
    await wake()
    await answer
  })

  test('is one of 100 that all are answered, in the order they came', async () => {
    const order: number[] = []
    const ordered = startRawUpstream((socket, text) => {
      order.push(Number(/^GET \/(\d+)/.exec(text)?.[1]))
      socket.write(ok('awake'))
    })
    const answers: Promise<{ text: string }>[] = []
    for (let index = 0; index < 100; index++) {
      const connection = await connectRaw(world.port)
      connection.send(get(`/${index}`))
      answers.push(connection.closed)
    }
    await Bun.sleep(50)
    await world.publish({ 'a.test': proxyTo(ordered.port) })
    for (const answer of answers) expect((await answer).text).toContain('200 OK')
    expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index))
    ordered.stop()
  })

  test('with a body has it read only when there is somebody to take it, and all of it', async () => {
    const connection = await connectRaw(world.port)
    const body = `${'x'.repeat(8 * 1024 * 1024)}END`
    connection.send(`POST / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    await eventually(async () => (await held()).length === 1)
    await wake()
    expect((await connection.closed).text).toContain('200 OK')
    expect(app.received().length).toBeGreaterThan(body.length)
  })

  test('with Expect: 100-continue is told to go on by the service itself', async () => {
    const polite = startRawUpstream((socket, text) => {
      if (socket.data.answers === 0 && text.includes('\r\n\r\n')) {
        socket.data.answers = 1
        socket.write('HTTP/1.1 100 Continue\r\n\r\n')
      }
      if (text.endsWith('END')) socket.write(ok('taken'))
    })
    const connection = await connectRaw(world.port)
    connection.send('POST / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n')
    await eventually(async () => (await held()).length === 1)
    expect(connection.text()).toBe('')
    await world.publish({ 'a.test': proxyTo(polite.port) })
    await connection.until((text) => text.startsWith('HTTP/1.1 100 Continue'))
    connection.send('END')
    await connection.until((text) => text.endsWith('taken'))
    connection.kill()
    polite.stop()
  })

  test('that has sent the next one already has both answered', async () => {
    const connection = await connectRaw(world.port)
    connection.send(`GET /1 HTTP/1.1\r\nHost: a.test\r\n\r\n${get('/2')}`)
    await eventually(async () => (await held()).length === 1)
    await wake()
    expect((await connection.closed).text.match(/200 OK/g)).toHaveLength(2)
  })

  test('gives its place free when its client leaves', async () => {
    const connection = await connectRaw(world.port)
    connection.send(get())
    await eventually(async () => (await held()).length === 1)
    connection.kill()
    await eventually(async () => (await held()).length === 0)
  })

  test('is answered at once when there is no place left for it', async () => {
    const waiting = await Promise.all(Array.from({ length: 150 }, () => connectRaw(world.port)))
    for (const connection of waiting) connection.send(get())
    let refusal = ''
    await eventually(async () => {
      const extra = await connectRaw(world.port)
      extra.send(get())
      await Promise.race([extra.closed, Bun.sleep(50)])
      refusal = extra.text()
      extra.kill()
      return refusal !== ''
    })
    expect(refusal).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 5[\s\S]*too many requests wait/)
    await wake()
    for (const connection of waiting) expect((await connection.closed).text).toContain('200 OK')
  })

  test('of an address that is not let in, or in maintenance, wakes nobody', async () => {
    await world.publish({
      'a.test': { ...asleep, policy: { allow: ['192.0.2.0/24'] } },
      'b.test': { ...asleep, policy: { maintenance: {} } },
    })
    expect((await exchangeRaw(world.port, get())).text).toContain('403 Forbidden')
    expect((await exchangeRaw(world.port, get('/', 'b.test'))).text).toContain('503 Service Unavailable')
    expect(await held()).toEqual([])
  })

  test('is answered for what has become of the service meanwhile', async () => {
    const answer = exchangeRaw(world.port, get())
    await eventually(async () => (await held()).length === 1)
    await world.publish({ 'a.test': { kind: 'suspended', serviceId: 'srv-a', name: 'shop' } })
    expect((await answer).text).toContain('shop has been suspended')
  })
})

test('a service that does not wake is said to be so at the deadline', async () => {
  const impatient = await startWorld({ limits: { wakeTimeoutMs: 50 } })
  await impatient.publish({ 'a.test': asleep })
  const { text } = await exchangeRaw(impatient.port, get())
  expect(text).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 5[\s\S]*shop was asleep and did not wake in time/)
  await impatient.close()
})

test('an ingress that ends answers those that wait, and keeps no caller waiting', async () => {
  const ending = await startWorld({ limits: { closeGraceMs: 50 } })
  await ending.publish({ 'a.test': asleep })
  const answer = exchangeRaw(ending.port, get())
  await eventually(async () => (await ending.client.heldServices(undefined, never)).serviceIds.length === 1)
  const { revision } = await ending.client.heldServices(undefined, never)
  const changes = ending.client.heldServices(revision, never).catch(() => undefined)
  await ending.close()
  expect((await answer).text).toContain('503 Service Unavailable')
  await changes
})
