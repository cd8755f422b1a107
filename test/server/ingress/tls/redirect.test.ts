import { afterAll, beforeAll, expect, test } from 'vitest'
import { redirectToHttps } from '../../../../server/ingress/tls/https-redirect.ts'
import { ok, proxyTo, type RawUpstream, startRawUpstream } from '../world.ts'
import { curl, startTlsWorld, type TlsWorld } from './tls-world.ts'

let world: TlsWorld
let proxied: TlsWorld
let upstream: RawUpstream

beforeAll(async () => {
  upstream = startRawUpstream((socket, text) => {
    if (text.endsWith('\r\n\r\n')) socket.write(ok('the app'))
  })
  world = await startTlsWorld()
  proxied = await startTlsWorld({ trustedProxies: ['127.0.0.0/8'] })
  for (const one of [world, proxied]) {
    await one.publish({ 'a.test': proxyTo(upstream.port), 'own.test': proxyTo(upstream.port), 'bare.test': proxyTo(upstream.port) })
    const broken = { ...(await one.certify('broken', ['bare.test'])), sealedKey: 'v1.broken' }
    const selfSigned = await one.certify('own', ['own.test'], { isTrusted: false })
    await one.serve([await one.certify('c1', ['a.test', '*.wild.test']), selfSigned, broken], { fallbackId: 'own' })
  }
})

afterAll(async () => {
  upstream.stop()
  await world.close()
  await proxied.close()
})

const http = (of: TlsWorld, host: string, ...args: string[]) => curl(of, `http://${host}:${of.port}/path?q=1`, ...args)

test('http leads to https once clients accept the certificate of a host, as another method demands', async () => {
  const location = `Location: https://a.test:${world.tlsPort}/path?q=1\r\n`
  for (const [method, status] of [
    ['GET', '301 Moved Permanently'],
    ['POST', '308 Permanent Redirect'],
    ['OPTIONS', '308 Permanent Redirect'],
  ]) {
    const answer = await http(world, 'a.test', '-X', method ?? '')
    expect(answer).toContain(`HTTP/1.1 ${status}\r\n`)
    expect(answer).toContain(location)
  }
  expect(await http(world, 'a.test', '-I')).toContain(location)
  expect(await http(world, 'shop.wild.test')).toContain(`Location: https://shop.wild.test:${world.tlsPort}/path`)
  expect(upstream.received()).toBe('')
})

test('a self-signed, missing or broken certificate leads nobody to https', async () => {
  for (const host of ['own.test', 'bare.test']) expect(await http(world, host)).toContain('the app')
  expect(await http(world, 'unknown.test')).toContain('404')
})

test('a client of a trusted proxy that has come by https is served', async () => {
  expect(await http(proxied, 'a.test', '-H', 'X-Forwarded-Proto: https')).toContain('the app')
  expect(await http(proxied, 'a.test', '-H', 'X-Forwarded-Proto: http')).toContain('301')
  expect(await http(proxied, 'a.test')).toContain('301')
  expect(await http(world, 'a.test', '-H', 'X-Forwarded-Proto: https')).toContain('301')
})

test('over https the app is told of it', async () => {
  const before = upstream.received().length
  expect(await curl(world, `https://a.test:${world.tlsPort}/`, '--http1.1')).toContain('the app')
  const request = upstream.received().slice(before)
  expect(request).toContain('X-Forwarded-Proto: https\r\n')
  expect(request).toContain(`X-Forwarded-Port: ${world.tlsPort}\r\n`)
  expect(request).toContain(`X-Forwarded-Host: a.test:${world.tlsPort}\r\n`)
})

test('the port is named unless it is the usual one, and a target without a page is left alone', () => {
  const request = { method: 'GET', host: 'a.test', target: '/x', claimedScheme: undefined }
  expect(redirectToHttps({ ...request, port: 443 })).toEqual({ status: 301, location: 'https://a.test/x' })
  expect(redirectToHttps({ ...request, port: 8443 })?.location).toBe('https://a.test:8443/x')
  expect(redirectToHttps({ ...request, port: 443, method: 'OPTIONS', target: '*' })).toBe(undefined)
  expect(redirectToHttps({ ...request, port: 443, claimedScheme: 'HTTPS, http' })).toBe(undefined)
  expect(redirectToHttps({ ...request, port: 443, claimedScheme: 'http, https' })?.status).toBe(301)
})
