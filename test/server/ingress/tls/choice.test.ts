import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { curl, greet, startTlsWorld, type TlsWorld } from './tls-world.ts'

let world: TlsWorld

beforeEach(async () => {
  world = await startTlsWorld()
})

afterEach(() => world.close())

describe.each(['while no challenge is pending', 'while a challenge is pending'])('%s', (when) => {
  const challenges = async () => (when.includes('no') ? [] : [await world.tlsChallenge('elsewhere.test')])

  test('the most exact name wins, then the wildcard of one label, then the fallback', async () => {
    const exact = await world.certify('c1', ['a.test'])
    const wildcard = await world.certify('c2', ['*.test', 'b.test'])
    const fallback = await world.certify('c3', ['fallback.test'])
    await world.serve([wildcard, exact, fallback], { fallbackId: 'c3', challenges: await challenges() })
    const shown = async (name: string | undefined) => (await greet(world, name)).name
    expect(await shown('a.test')).toBe('a.test')
    expect(await shown('A.Test')).toBe('a.test')
    expect(await shown('other.test')).toBe('*.test')
    expect(await shown('b.test')).toBe('*.test')
    expect(await shown('deep.other.test')).toBe('fallback.test')
    expect(await shown('a.example')).toBe('fallback.test')
    expect(await shown(undefined)).toBe('fallback.test')
  })

  test('a name without a certificate is refused as unrecognized, in TLS 1.2 and 1.3', async () => {
    await world.serve([await world.certify('c1', ['a.test'])], { challenges: await challenges() })
    for (const version of ['-tls1_2', '-tls1_3']) {
      const greeting = await greet(world, 'b.test', version)
      expect([greeting.name, greeting.alert]).toEqual([undefined, 'unrecognized name'])
    }
    expect((await greet(world, undefined)).name).toBe(undefined)
    expect((await greet(world, 'a.test')).isTrusted).toBe(true)
  })

  test('certificates come, change and go without a restart', async () => {
    const pending = await challenges()
    const first = await world.certify('c1', ['a.test'])
    const second = await world.certify('c1', ['renewed.test', 'a.test'], { hosts: ['a.test'] })
    await world.serve([], { challenges: pending })
    expect((await greet(world, 'a.test')).name).toBe(undefined)
    await world.serve([first], { challenges: pending })
    expect((await greet(world, 'a.test')).name).toBe('a.test')
    await world.serve([second], { challenges: pending })
    expect((await greet(world, 'a.test')).name).toBe('renewed.test')
    await world.serve([second], { fallbackId: 'c1', challenges: pending })
    expect((await greet(world, undefined)).name).toBe('renewed.test')
    await world.serve([first], { fallbackId: 'c1', challenges: pending })
    expect((await greet(world, undefined)).name).toBe('a.test')
    await world.serve([], { challenges: pending })
    expect((await greet(world, undefined)).name).toBe(undefined)
  })

  test('a certificate whose key cannot be opened or is another one is left out, and said so once', async () => {
    const other = await world.certify('other', ['x.test'])
    const mixed = await world.certify('mixed', ['a.test'])
    const wildcard = await world.certify('wild', ['*.test'])
    const torn = { ...(await world.certify('torn', ['b.test'])), sealedKey: 'v1.broken' }
    const swapped = { ...mixed, certificate: other.certificate }
    const noPem = { ...(await world.certify('text', ['c.test'])), certificate: 'no certificate' }
    await world.serve([swapped, torn, noPem, wildcard], { fallbackId: 'torn', challenges: await challenges() })
    for (const name of ['a.test', 'b.test', 'c.test', 'a.test']) expect((await greet(world, name)).name).toBe('*.test')
    expect((await greet(world, undefined)).name).toBe(undefined)
    for (const id of ['mixed', 'torn', 'text']) {
      expect(world.logged.filter((line) => line.includes(`The certificate ${id} cannot be served`))).toHaveLength(1)
    }
  })

  test('HTTP/2 is preferred, HTTP/1.1 spoken, and anything else refused', async () => {
    await world.serve([await world.certify('c1', ['a.test'])], { challenges: await challenges() })
    expect((await greet(world, 'a.test', '-alpn', 'http/1.1,h2')).protocol).toBe('h2')
    expect((await greet(world, 'a.test', '-alpn', 'http/1.1')).protocol).toBe('http/1.1')
    expect((await greet(world, 'a.test')).protocol).toBe(undefined)
    expect((await greet(world, 'a.test', '-alpn', 'acme-tls/1')).alert).toBe('no application protocol')
    const url = `https://a.test:${world.tlsPort}/`
    expect(await curl(world, url, '--http2')).toMatch(/^HTTP\/2 404/)
    expect(await curl(world, url, '--http1.1')).toMatch(/^HTTP\/1.1 404/)
  })

  test('TLS before 1.2 and ciphers without forward secrecy are refused', async () => {
    await world.serve([await world.certify('c1', ['a.test'])], { challenges: await challenges() })
    expect((await greet(world, 'a.test', '-tls1_1', '-cipher', 'ALL@SECLEVEL=0')).name).toBe(undefined)
    expect((await greet(world, 'a.test', '-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-SHA')).name).toBe(undefined)
    expect((await greet(world, 'a.test', '-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-GCM-SHA256')).version).toBe('TLSv1.2')
    expect((await greet(world, 'a.test')).version).toBe('TLSv1.3')
  })
})

test('a session is resumed, also after other certificates were published', async () => {
  const certificate = await world.certify('c1', ['a.test'])
  await world.serve([certificate])
  for (const version of ['-tls1_2', '-tls1_3']) {
    const file = `${world.dir}/session${version}`
    await greet(world, 'a.test', version, '-sess_out', file, '-ign_eof')
    await world.serve([certificate, await world.certify(`c${version}`, ['b.test'])])
    expect((await greet(world, 'a.test', version, '-sess_in', file)).isResumed, version).toBe(true)
  }
})
