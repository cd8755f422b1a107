import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { observeDns } from '../../../../server/edge/domains/observation.ts'
import { createResolver } from '../../../../server/edge/domains/resolver.ts'
import { type NameServer, NXDOMAIN, REFUSED, startNameServer, startSpeechlessServer } from '../../../support/name-server.ts'
import { until } from '../../../support/until.ts'

let dns: NameServer
beforeAll(async () => {
  dns = await startNameServer()
})
afterAll(() => dns.close())

const end = 'web.apps.acme.com'
const observe = (name: string, server = dns.address, signal = new AbortController().signal) =>
  observeDns(createResolver({ server, tryTimeoutMs: 200 }), { name, end }, signal)

describe('an observation of DNS finds', () => {
  test('the challenge, in pieces or whole', async () => {
    await dns.txt('_cpd-challenge.txt.example.com', 'cpd-1')
    expect((await observe('txt.example.com')).texts).toEqual(['cpd-1'])
  })

  test("the chain to the service's name, and asks no further", async () => {
    await dns.cname('www.example.com', 'cdn.example.com')
    await dns.cname('cdn.example.com', end)
    expect(await observe('www.example.com')).toEqual({
      texts: [],
      chain: ['cdn.example.com', end],
      isChainTooLong: false,
      addresses: [],
      failures: [],
    })
  })

  test('addresses of both kinds, at the name or at the end of its chain', async () => {
    await dns.a('apex.example.com', '203.0.113.1', '203.0.113.2')
    await dns.aaaa('apex.example.com', '2001:db8::1')
    await dns.cname('alias.example.com', 'apex.example.com')
    const sorted = async (name: string) => (await observe(name)).addresses.toSorted()
    expect(await sorted('apex.example.com')).toEqual(['2001:db8::1', '203.0.113.1', '203.0.113.2'])
    expect(await sorted('alias.example.com')).toEqual(['2001:db8::1', '203.0.113.1', '203.0.113.2'])
  })

  test('nothing for a name that nobody set', async () => {
    expect(await observe('none.example.com')).toEqual({ texts: [], chain: [], isChainTooLong: false, addresses: [], failures: [] })
  })

  test('a circle, and a chain without end', async () => {
    await dns.cname('one.example.com', 'two.example.com')
    await dns.cname('two.example.com', 'one.example.com')
    expect(await observe('one.example.com')).toMatchObject({ isChainTooLong: true, addresses: [] })
    for (let step = 0; step < 20; step++) await dns.cname(`step${step}.example.com`, `step${step + 1}.example.com`)
    const endless = await observe('step0.example.com')
    expect(endless).toMatchObject({ isChainTooLong: true, addresses: [] })
    expect(endless.chain).toHaveLength(8)
  })
})

describe('a name server that', () => {
  test('fails is told from a name that does not exist', async () => {
    await dns.fails('broken.example.com')
    const { failures } = await observe('broken.example.com')
    expect(failures).toEqual([expect.stringContaining('SERVFAIL')])
    const missing = await startSpeechlessServer(NXDOMAIN)
    expect(await observe('nobody.example.com', missing.address)).toMatchObject({ addresses: [], failures: [] })
    expect(missing.asked()).toBeLessThanOrEqual(4)
    missing.close()
  })

  test('refuses is named', async () => {
    const refusing = await startSpeechlessServer(REFUSED)
    expect((await observe('x.example.com', refusing.address)).failures).toEqual(['the name server refused to answer'])
    refusing.close()
  })

  test('never answers is given up on', async () => {
    const silent = await startSpeechlessServer(undefined)
    expect((await observe('x.example.com', silent.address)).failures).toEqual(['the name server did not answer in time'])
    expect(silent.asked()).toBeLessThanOrEqual(16)
    silent.close()
  })

  test('is not there is named', async () => {
    expect((await observe('x.example.com', '127.0.0.1:1')).failures).toHaveLength(1)
  })

  test('keeps silent is asked nothing more when the control plane stops', async () => {
    const silent = await startSpeechlessServer(undefined)
    const stopping = new AbortController()
    const resolver = createResolver({ server: silent.address, tryTimeoutMs: 60_000 })
    const observing = observeDns(resolver, { name: 'x.example.com', end }, stopping.signal)
    await until('both questions are asked', () => silent.asked() === 2)
    stopping.abort()
    expect((await observing).failures).toHaveLength(1)
    expect(silent.asked()).toBe(2)
    silent.close()
  })
})
