import { existsSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIngressClient } from '../../../../server/ingress/control/client.ts'
import { type RunningIngress, runIngress } from '../../../../server/ingress/process/main.ts'
import type { RouteTable } from '../../../../server/ingress/tables/route-table.ts'
import { connectRaw, exchangeRaw, ok, proxyTo, startRawUpstream, startWorld, type World } from '../world.ts'

let world: World

beforeEach(async () => {
  world = await startWorld()
})

afterEach(() => world.close())

const table = (version: number, name: string): RouteTable => ({
  version,
  hosts: { 'a.test': { kind: 'unavailable', serviceId: 'srv-a', name } },
})
const ask = async () => (await exchangeRaw(world.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')).text

const startAgain = (): Promise<RunningIngress> =>
  runIngress({
    listen: { host: '127.0.0.1', port: 0 },
    controlSocketPath: world.controlSocketPath,
    routesFilePath: world.routesFilePath,
    version: 'test',
    trustedProxies: [],
    log: (line) => world.logged.push(line),
  })

test('only our own user may use the control socket or read the routes', async () => {
  await world.publish({})
  expect(statSync(world.controlSocketPath).mode & 0o777).toBe(0o600)
  expect(statSync(world.routesFilePath).mode & 0o777).toBe(0o600)
})

test('the ingress says what it is', async () => {
  await world.client.publish(table(7, 'seven'))
  expect(await world.client.status()).toEqual({
    pid: process.pid,
    version: 'test',
    routesVersion: 7,
    certificatesVersion: 0,
    listen: { host: '127.0.0.1', port: world.port },
    activeConnections: 0,
  })
})

test('a published table is served and on disk when publish returns', async () => {
  await world.client.publish(table(1, 'one'))
  expect(await ask()).toContain('one is not live yet')
  expect(await Bun.file(world.routesFilePath).json()).toEqual(table(1, 'one'))
})

test('a table that was overtaken on its way is refused', async () => {
  await world.client.publish(table(5, 'five'))
  await expect(world.client.publish(table(4, 'four'))).rejects.toMatchObject({ code: 'conflict' })
  expect(await ask()).toContain('five')
  await world.client.publish(table(5, 'again'))
  expect(await ask()).toContain('again')
})

test('a control plane that starts anew is believed, also when its database is older', async () => {
  await world.client.publish(table(500, 'before'))
  await createIngressClient(world.controlSocketPath).publish(table(3, 'restored'))
  expect(await ask()).toContain('restored')
})

test('what is no route table is refused whole', async () => {
  await world.client.publish(table(1, 'one'))
  const wrong = {
    version: 2,
    hosts: { 'b.test': { kind: 'proxy', serviceId: 's', name: 'n', targets: [{ instanceId: 'i', host: 'h', port: 0 }] } },
  }
  await expect(world.client.publish(wrong as RouteTable)).rejects.toMatchObject({ code: 'validation_failed' })
  await expect(
    world.client.publish({ version: 2, hosts: { 'no host': table(1, '').hosts['a.test'] } } as RouteTable),
  ).rejects.toMatchObject({
    message: expect.stringContaining('"no host"'),
  })
  expect(await ask()).toContain('one')
})

test('an ingress that starts serves the last table without a control plane', async () => {
  const upstream = startRawUpstream((socket) => void socket.write(ok('still here')))
  await world.publish({ 'a.test': proxyTo(upstream.port) })
  await world.client.shutdown()
  await world.ingress.closed
  const next = await startAgain()
  const { text } = await exchangeRaw(next.address.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')
  expect(text).toContain('still here')
  await next.close()
  upstream.stop()
})

test('a saved table that cannot be read does not keep the ingress from starting', async () => {
  await world.ingress.close()
  writeFileSync(world.routesFilePath, '{"version":')
  const next = await startAgain()
  expect((await exchangeRaw(next.address.port, 'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n')).text).toContain('404')
  expect(world.logged.at(-2)).toContain('could not be read')
  await next.close()
})

test('a second ingress for the same data directory is refused', async () => {
  await expect(startAgain()).rejects.toMatchObject({ code: 'conflict' })
  expect(await world.client.status()).toMatchObject({ listen: { port: world.port } })
})

test('an ingress that is to end answers what it has, closes idle connections and lets go of its socket at once', async () => {
  let answer: () => void = () => {}
  const upstream = startRawUpstream((socket) => {
    answer = () => void socket.write(ok('in time'))
  })
  await world.publish({ 'a.test': proxyTo(upstream.port) })
  const [idle, busy] = [await connectRaw(world.port), await connectRaw(world.port)]
  busy.send('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
  while (upstream.received() === '') await Bun.sleep(5)
  await world.client.shutdown()
  expect(existsSync(world.controlSocketPath)).toBe(false)
  expect(await idle.closed).toEqual({ text: '', isReset: false })
  await expect(connectRaw(world.port)).rejects.toThrow()
  answer()
  expect((await busy.closed).text).toMatch(/Connection: close\r\n\r\nin time$/)
  await world.ingress.closed
  upstream.stop()
})

test('tunnels that outstay the end are told to come again', async () => {
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
  const closed = new Promise<number>((resolve) => {
    socket.onclose = ({ code }) => resolve(code)
  })
  await world.client.shutdown()
  expect(await closed).toBe(1001)
  await world.ingress.closed
  await app.stop(true)
})

test('a path too long for a socket is named', async () => {
  const controlSocketPath = `${world.dir}/${'a'.repeat(100)}`
  const start = runIngress({
    listen: { host: '127.0.0.1', port: 0 },
    controlSocketPath,
    routesFilePath: world.routesFilePath,
    version: 'test',
    trustedProxies: [],
    log: () => {},
  })
  await expect(start).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining(controlSocketPath) })
})

test('without an ingress every call says that it is unavailable', async () => {
  await world.ingress.close()
  await expect(world.client.status()).rejects.toMatchObject({ code: 'unavailable' })
  await expect(world.publish({})).rejects.toMatchObject({ code: 'unavailable' })
})
