import { afterEach, expect, test } from 'vitest'
import type { Route } from '../../../../server/ingress/tables/route-table.ts'
import { until } from '../../../support/until.ts'
import { connectRaw, exchangeRaw, ok, proxyTo, startRawUpstream, startWorld } from '../world.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const MOST = 3

async function world(trustedProxies: string[] = []) {
  const upstream = startRawUpstream((socket, text) => {
    if (text.includes('GET /now')) socket.end(ok('now'))
  })
  const started = await startWorld({ trustedProxies, limits: { maxApiRequestsPerAddress: MOST } })
  closing.push(() => upstream.stop(), started.close)
  const api: Route = { ...(proxyTo(upstream.port) as Extract<Route, { kind: 'proxy' }>), name: 'The API', proof: 'proof' }
  await started.publish({ 'api.example': api, 'app.example': proxyTo(upstream.port) })
  const slow = async (from = '203.0.113.1') => {
    const connection = await connectRaw(started.port)
    closing.push(connection.kill)
    connection.send(`POST /login HTTP/1.1\r\nHost: api.example\r\nX-Forwarded-For: ${from}\r\nContent-Length: 9\r\n\r\na`)
    return connection
  }
  const asked = () => upstream.received().split('POST /login').length - 1
  const now = async (host: string, from = '203.0.113.1') => {
    const request = `GET /now HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: ${from}\r\nConnection: close\r\n\r\n`
    return (await exchangeRaw(started.port, request)).text.slice(0, 'HTTP/1.1 200'.length)
  }
  return { slow, asked, now }
}

test('a client has so many requests under way to the API, and any number to apps, until some are over', async () => {
  const { slow, asked, now } = await world()
  const [first] = [await slow(), await slow(), await slow()]
  await until('all have arrived', () => asked() === MOST)
  expect(await now('api.example')).toBe('HTTP/1.1 429')
  expect(await now('app.example')).toBe('HTTP/1.1 200')
  first.kill()
  await until('its place is free', async () => (await now('api.example')) === 'HTTP/1.1 200')
  for (let again = 0; again < 2 * MOST; again++) expect(await now('api.example')).toBe('HTTP/1.1 200')
})

test('whom a proxy speaks for is counted alone', async () => {
  const { slow, asked, now } = await world(['127.0.0.1'])
  for (let count = 0; count < MOST; count++) await slow()
  await until('all have arrived', () => asked() === MOST)
  expect(await now('api.example')).toBe('HTTP/1.1 429')
  expect(await now('api.example', '203.0.113.2')).toBe('HTTP/1.1 200')
})
