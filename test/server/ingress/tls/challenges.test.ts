import { afterEach, beforeEach, expect, test } from 'vitest'
import { ok, proxyTo, type RawUpstream, startRawUpstream } from '../world.ts'
import { type Challenge, curl, greet, startTlsWorld, type TlsWorld } from './tls-world.ts'

let world: TlsWorld
let upstream: RawUpstream

beforeEach(async () => {
  world = await startTlsWorld()
  upstream = startRawUpstream((socket) => void socket.write(ok('the app')))
  await world.publish({
    'a.test': proxyTo(upstream.port),
    'asleep.test': { kind: 'suspended', serviceId: 'srv-b', name: 'sleeper' },
  })
})

afterEach(async () => {
  upstream.stop()
  await world.close()
})

const httpChallenge = (host: string, token: string): Challenge => ({ kind: 'http', host, token, keyAuthorization: `${token}.thumbprint` })
const challengeUrl = (host: string, token: string) => `http://${host}:${world.port}/.well-known/acme-challenge/${token}`

test('a challenge over http is answered before any route, also where there is none', async () => {
  const hosts = ['a.test', 'asleep.test', 'unknown.test']
  await world.serve([], { challenges: hosts.map((host) => httpChallenge(host, `token-${host}`)) })
  for (const host of hosts) {
    const answer = await curl(world, challengeUrl(host, `token-${host}`))
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(answer.endsWith(`\r\n\r\ntoken-${host}.thumbprint`)).toBe(true)
    expect(answer).not.toContain('Transfer-Encoding')
  }
  expect(upstream.received()).toBe('')
})

test('other tokens, other hosts and tokens that were withdrawn belong to the routes', async () => {
  await world.serve([], { challenges: [httpChallenge('a.test', 'token-1')] })
  expect(await curl(world, challengeUrl('a.test', 'token-2'))).toContain('the app')
  expect(await curl(world, challengeUrl('b.test', 'token-1'))).toContain('404')
  await world.serve([])
  expect(await curl(world, challengeUrl('a.test', 'token-1'))).toContain('the app')
})

test('a challenge is answered over http where everything else is sent to https, and over https, too', async () => {
  await world.serve([await world.certify('c1', ['a.test'])], { challenges: [httpChallenge('a.test', 'token-1')] })
  expect(await curl(world, challengeUrl('a.test', 'token-1'))).toContain('token-1.thumbprint')
  expect(await curl(world, `http://a.test:${world.port}/`)).toContain('301')
  expect(await curl(world, `https://a.test:${world.tlsPort}/.well-known/acme-challenge/token-1`)).toContain('token-1.thumbprint')
})

test('only the authority is shown the certificate of a challenge, other clients of the host get its own meanwhile', async () => {
  await world.serve([await world.certify('c1', ['a.test'])], { challenges: [await world.tlsChallenge('a.test')] })
  for (const version of ['-tls1_2', '-tls1_3']) {
    const authority = await greet(world, 'a.test', version, '-alpn', 'acme-tls/1')
    expect([authority.name, authority.protocol]).toEqual(['challenge.a.test', 'acme-tls/1'])
    const browser = await greet(world, 'a.test', version, '-alpn', 'h2,http/1.1')
    expect([browser.name, browser.protocol]).toEqual(['a.test', 'h2'])
    const both = await greet(world, 'a.test', version, '-alpn', 'acme-tls/1,http/1.1')
    expect([both.name, both.protocol]).toEqual(['a.test', 'http/1.1'])
    expect((await greet(world, 'a.test', version)).name).toBe('a.test')
  }
  expect(await curl(world, `https://a.test:${world.tlsPort}/`)).toContain('the app')
})

test('a host without a certificate, routes or fallback can be challenged', async () => {
  await world.serve([], { challenges: [await world.tlsChallenge('new.test')] })
  expect((await greet(world, 'new.test', '-alpn', 'acme-tls/1')).name).toBe('challenge.new.test')
  expect((await greet(world, 'new.test')).alert).toBe('unrecognized name')
  expect((await greet(world, 'other.test', '-alpn', 'acme-tls/1')).alert).toBe('unrecognized name')
})

test('a challenge that was withdrawn is not answered any more', async () => {
  const certificate = await world.certify('c1', ['a.test'])
  await world.serve([certificate], { challenges: [await world.tlsChallenge('a.test')] })
  await world.serve([certificate])
  expect((await greet(world, 'a.test', '-alpn', 'acme-tls/1')).alert).toBe('no application protocol')
  expect((await greet(world, 'a.test')).name).toBe('a.test')
})
