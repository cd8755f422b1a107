import { afterEach, describe, expect, test } from 'vitest'
import { rulePath } from '../../../../server/ingress/rules/policy.ts'
import type { RoutePolicy } from '../../../../server/ingress/tables/route-table.ts'
import { connectRaw, exchangeRaw, ok, proxyTo, type RawUpstream, startRawUpstream, startWorld, type World } from '../world.ts'

let world: World
let upstream: RawUpstream

afterEach(async () => {
  upstream.stop()
  await world.close()
})

const answers = ok('hello', 'X-Frame-Options: SAMEORIGIN', 'X-App: yes')

async function serve(policy: RoutePolicy, trustedProxies: string[] = []): Promise<void> {
  world = await startWorld({ trustedProxies })
  upstream = startRawUpstream((socket) => void socket.write(answers))
  await world.publish({ 'a.test': { ...proxyTo(upstream.port), policy } })
}

const head = (path: string, lines: string[]) => `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${lines.map((line) => `${line}\r\n`).join('')}`
const ask = async (path = '/', ...lines: string[]) => (await exchangeRaw(world.port, `${head(path, lines)}Connection: close\r\n\r\n`)).text

describe('an allow list', () => {
  test('lets in whom it names, and answers 403 to others without a word of who is on it', async () => {
    await serve({ allow: ['192.0.2.0/24'] })
    const refused = await ask()
    expect(refused).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/)
    expect(refused).toContain('shop cannot be reached from your address.')
    expect(refused).not.toContain('192.0.2')
    expect(upstream.connectionCount()).toBe(0)
    await world.publish({ 'a.test': { ...proxyTo(upstream.port), policy: { allow: ['192.0.2.0/24', '127.0.0.1'] } } })
    expect(await ask()).toContain('hello')
  })
  test('that is empty lets nobody in', async () => {
    await serve({ allow: [] })
    expect(await ask()).toMatch(/^HTTP\/1\.1 403 /)
  })
  test('takes whom a trusted proxy speaks for as the client, and nobody else at his word', async () => {
    await serve({ allow: ['192.0.2.0/24', '2001:db8::/32'] }, ['127.0.0.1'])
    expect(await ask('/', 'X-Forwarded-For: 192.0.2.1')).toContain('hello')
    expect(await ask('/', 'X-Forwarded-For: 2001:db8::5')).toContain('hello')
    expect(await ask('/', 'X-Forwarded-For: ::ffff:192.0.2.1')).toContain('hello')
    expect(await ask('/', 'X-Forwarded-For: 192.0.2.1, 203.0.113.9')).toMatch(/^HTTP\/1\.1 403 /)
    await world.close()
    world = await startWorld()
    await world.publish({ 'a.test': { ...proxyTo(upstream.port), policy: { allow: ['192.0.2.0/24'] } } })
    expect(await ask('/', 'X-Forwarded-For: 192.0.2.1')).toMatch(/^HTTP\/1\.1 403 /)
  })
  test('holds for WebSockets', async () => {
    await serve({ allow: [] })
    const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
    const { text } = await exchangeRaw(world.port, `${head('/ws', upgrade)}Connection: Upgrade, close\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 403 /)
    expect(upstream.connectionCount()).toBe(0)
  })
  test('holds for the next request on a connection that is open', async () => {
    await serve({})
    const client = await connectRaw(world.port)
    client.send(`${head('/', [])}\r\n`)
    await client.until((text) => text.endsWith('hello'))
    await world.publish({ 'a.test': { ...proxyTo(upstream.port), policy: { allow: [] } } })
    client.send(`${head('/', [])}\r\n`)
    await client.until((text) => text.includes('HTTP/1.1 403 '))
    client.kill()
  })
})

describe('maintenance', () => {
  test('is a 503 that says when to come again, and the instance is not asked', async () => {
    await serve({ maintenance: {} })
    const text = await ask('/', 'Accept: text/html')
    expect(text).toMatch(/^HTTP\/1\.1 503 /)
    expect(text).toContain('Retry-After: 60\r\n')
    expect(text).toContain('<h1>503 Down for Maintenance</h1>')
    expect(upstream.connectionCount()).toBe(0)
  })
  test('leads to the page that was set', async () => {
    await serve({ maintenance: { uri: 'https://status.example.com/down' } })
    const text = await ask('/cart')
    expect(text).toMatch(/^HTTP\/1\.1 302 /)
    expect(text).toContain('Location: https://status.example.com/down\r\n')
    expect(text).toContain('Cache-Control: no-store\r\n')
  })
  test('does not lead round and round to the host itself', async () => {
    await serve({ maintenance: { uri: 'https://a.test/down' } })
    expect(await ask('/down')).toMatch(/^HTTP\/1\.1 503 /)
  })
  test('is not told to those who are not let in', async () => {
    await serve({ maintenance: {}, allow: [] })
    expect(await ask()).toMatch(/^HTTP\/1\.1 403 /)
  })
})

describe('rules of a proxied service', () => {
  test('redirect before the instance is asked, the query going along', async () => {
    const rules = [{ type: 'redirect' as const, source: '/old/*', destination: '/new/*' }]
    await serve({ rules })
    const text = await ask('/old/a%20b?c=d')
    expect(text).toMatch(/^HTTP\/1\.1 301 /)
    expect(text).toContain('Location: /new/a%20b?c=d\r\n')
    expect(upstream.connectionCount()).toBe(0)
    expect(await ask('/other')).toContain('hello')
  })
  test('never redirect to another host that a path names', async () => {
    await serve({ rules: [{ type: 'redirect', source: '/go/*', destination: '/*' }] })
    for (const path of ['/go//evil.test', '/go/%2Fevil.test', '/go/%2F%2Fevil.test']) {
      expect(await ask(path)).toContain('Location: /evil.test\r\n')
    }
  })
  test('set headers below a path in place of the app’s, the last rule for a header winning', async () => {
    const headers = [
      { path: '/*', name: 'x-frame-options', value: 'ALLOWALL' },
      { path: '/*', name: 'X-Frame-Options', value: 'DENY' },
      { path: '/assets/*', name: 'Cache-Control', value: 'immutable' },
      { path: '/*', name: 'Content-Length', value: '99' },
    ]
    await serve({ headers })
    const plain = await ask('/')
    expect(plain.match(/x-frame-options: .*\r\n/gi)).toEqual(['X-Frame-Options: DENY\r\n'])
    expect(plain).toContain('X-App: yes\r\n')
    expect(plain).toContain('Content-Length: 5\r\n')
    expect(plain).not.toContain('Cache-Control')
    expect(await ask('/assets/a.js')).toContain('Cache-Control: immutable\r\n')
  })
  test('see a path decoded and with single slashes, and one that cannot be decoded as it is', () => {
    expect(rulePath('/a%20b//c?d=%2F')).toEqual({ path: '/a b/c', query: '?d=%2F' })
    expect(rulePath('/%zz')).toEqual({ path: '/%zz', query: '' })
    expect(rulePath('*')).toEqual({ path: '*', query: '' })
  })
})
