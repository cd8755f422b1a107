import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WATCHED_MS } from '../../../../server/edge/domains/schedule.ts'
import type { CustomDomain } from '../../../../shared/custom-domain.ts'
import type { ErrorBody } from '../../../../shared/error.ts'
import { call } from '../../../support/client.ts'
import { registerTenant, type Tenant } from '../../../support/members.ts'
import { type NameServer, startNameServer } from '../../../support/name-server.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const ADDRESS = '203.0.113.7'

let dns: NameServer
let platform: Platform
let web: TestService
let stranger: Tenant
let strangersService: string

beforeAll(async () => {
  dns = await startNameServer()
  platform = await startPlatform({ CP_DNS_RESOLVER: dns.address, CP_PUBLIC_ADDRESSES: ADDRESS, CP_BASE_DOMAIN: 'apps.acme.com' })
  web = await makeService(platform, { name: 'web' })
  await web.goLive('hello-js')
  stranger = await registerTenant(platform, 'stranger@example.com')
  const json = { type: 'web_service', name: 'theirs' }
  const made = await call<{ service: { id: string } }>(`${platform.url}/v1/services`, { json, token: stranger.token })
  strangersService = made.body.service.id
})
afterAll(async () => {
  await platform.close()
  await dns.close()
})

const add = (name: string) => web.ask<[CustomDomain]>('/custom-domains', { json: { name } })
const show = async (name: string) => (await web.ask<CustomDomain>(`/custom-domains/${name}`)).body
const verify = (name: string) => web.ask(`/custom-domains/${name}/verify`, { method: 'POST' })
const remove = (name: string) => web.ask(`/custom-domains/${name}`, { method: 'DELETE' })
const strangerAdds = (name: string) =>
  call<[CustomDomain] & ErrorBody>(`${platform.url}/v1/services/${strangersService}/custom-domains`, {
    json: { name },
    token: stranger.token,
  })
const checked = (name: string) =>
  until(`${name} has been looked at`, async () => {
    const domain = await show(name)
    return !domain.isCheckPending && domain
  })
const statusAt = async (host: string) => (await platform.ingress.visit(host)).status

/** Asks for a look and gives the domain as it is after it. */
async function looked(name: string): Promise<CustomDomain> {
  expect((await verify(name)).status).toBe(202)
  return await checked(name)
}

describe('a domain', () => {
  test('is not routed before DNS proves it, is from then on, and is no more once it is removed', async () => {
    const { status, body } = await add('WWW.Shop.com.')
    expect(status).toBe(201)
    expect(body).toHaveLength(1)
    expect(body[0]).toMatchObject({
      name: 'www.shop.com',
      domainType: 'subdomain',
      publicSuffix: 'com',
      redirectForName: '',
      verificationStatus: 'unverified',
      server: { id: web.id, name: 'web' },
      certificate: { status: 'none' },
    })
    expect(body[0].dnsRecords[0]).toEqual({ type: 'CNAME', name: 'www.shop.com', value: 'web.apps.acme.com' })
    expect((await checked('www.shop.com')).lastCheck).toMatchObject({ outcome: 'not_found', found: [] })
    expect(await statusAt('www.shop.com')).toBe(404)
    await dns.cname('www.shop.com', 'web.apps.acme.com')
    expect(await looked('www.shop.com')).toMatchObject({ verificationStatus: 'verified', lastCheck: { outcome: 'verified' } })
    await until('it is routed', async () => (await statusAt('www.shop.com')) === 200)
    expect((await remove('www.shop.com')).status).toBe(204)
    await until('it is routed no more', async () => (await statusAt('www.shop.com')) === 404)
    const events = (await web.events()).filter(({ type }) => type.startsWith('custom_domain'))
    expect(events).toEqual(
      ['custom_domain_added', 'custom_domain_verified', 'custom_domain_removed'].map((type) => ({
        type,
        details: { name: 'www.shop.com' },
      })),
    )
  })

  test('that DNS proves already is verified without being asked for', async () => {
    await dns.a('apex.com', ADDRESS)
    const { body } = await add('apex.com')
    expect(body[0].dnsRecords[0]).toEqual({ type: 'A', name: 'apex.com', value: ADDRESS })
    await until('it is verified', async () => (await show('apex.com')).verificationStatus === 'verified')
    await until('it is routed', async () => (await statusAt('apex.com')) === 200)
  })

  test('is proven by its TXT record while it leads elsewhere', async () => {
    await dns.a('moving.com', '198.51.100.9')
    const { body } = await add('moving.com')
    expect((await checked('moving.com')).lastCheck).toMatchObject({ outcome: 'wrong_target', found: ['A moving.com → 198.51.100.9'] })
    const txt = body[0].dnsRecords.find(({ type }) => type === 'TXT')
    await dns.txt(txt?.name ?? '', txt?.value ?? '')
    expect(await looked('moving.com')).toMatchObject({ verificationStatus: 'verified' })
  })

  test('stays verified when DNS changes, and the last look tells so', async () => {
    await dns.a('fickle.com', ADDRESS)
    await add('fickle.com')
    await until('it is verified', async () => (await show('fickle.com')).verificationStatus === 'verified')
    await dns.fails('fickle.com')
    expect(await looked('fickle.com')).toMatchObject({ verificationStatus: 'verified', lastCheck: { outcome: 'no_answer' } })
    expect(await statusAt('fickle.com')).toBe(200)
  })

  test("that leads to another service's name is not proven for this one", async () => {
    await dns.cname('theirs.shop.com', 'theirs.apps.acme.com')
    await add('theirs.shop.com')
    expect((await checked('theirs.shop.com')).lastCheck).toMatchObject({ outcome: 'wrong_target' })
  })

  test('is listed newest first, and found by id or by name in any spelling', async () => {
    const { body } = await add('bücher.example.com')
    const [{ id, name }] = body
    expect(name).toBe('xn--bcher-kva.example.com')
    for (const way of [id, name, 'B%C3%9Ccher.example.com.'])
      expect((await web.ask<CustomDomain>(`/custom-domains/${way}`)).body.id).toBe(id)
    const list = await web.ask<{ customDomain: CustomDomain; cursor: string }[]>('/custom-domains?limit=2')
    expect(list.body.map((item) => item.customDomain.name)[0]).toBe(name)
    const next = await web.ask<{ customDomain: CustomDomain }[]>(`/custom-domains?cursor=${list.body[1]?.cursor}`)
    expect(next.body.map((item) => item.customDomain.id)).not.toContain(id)
    expect((await web.ask('/custom-domains/nobody.example.com')).status).toBe(404)
  })

  test('is found by what it is', async () => {
    const service = await makeService(platform, { name: 'filtered' })
    for (const name of ['filtered.com', 'www.filtered.com']) await service.ask('/custom-domains', { json: { name } })
    const names = async (query: string) => {
      const { body } = await service.ask<{ customDomain: CustomDomain }[]>(`/custom-domains?${query}`)
      return body.map(({ customDomain }) => customDomain.name)
    }
    expect(await names('')).toEqual(['www.filtered.com', 'filtered.com'])
    expect(await names('name=WWW.filtered.com.,nobody.com')).toEqual(['www.filtered.com'])
    expect(await names('domainType=apex')).toEqual(['filtered.com'])
    expect(await names('verificationStatus=unverified')).toHaveLength(2)
    expect(await names('verificationStatus=verified')).toEqual([])
    expect(await names('createdAfter=2040-01-01T00:00:00Z')).toEqual([])
    expect(await names('createdBefore=2040-01-01T00:00:00Z')).toHaveLength(2)
  })

  test('goes with its service, and its name is free at once', async () => {
    const other = await makeService(platform, { name: 'short-lived', type: 'static_site' })
    await dns.a('freed.com', ADDRESS)
    expect((await other.ask('/custom-domains', { json: { name: 'freed.com' } })).status).toBe(201)
    await until('it is routed', async () => (await statusAt('freed.com')) === 503)
    await other.ask('', { method: 'DELETE' })
    expect((await add('freed.com')).status).toBe(201)
    await until('it leads to the other service', async () => (await statusAt('freed.com')) === 200)
  })

  test('is for services that are reached from outside', async () => {
    const worker = await makeService(platform, { name: 'worker', type: 'background_worker' })
    const { status, body } = await worker.ask<ErrorBody>('/custom-domains', { json: { name: 'worker.com' } })
    expect(status).toBe(409)
    expect(body.message).toContain('web services and static sites')
  })

  test('below the base domain, or at the public URL, is refused', async () => {
    const { status, body } = await web.ask<ErrorBody>('/custom-domains', { json: { name: 'other.apps.acme.com' } })
    expect([status, body.code, body.details?.[0]?.path]).toEqual([400, 'validation_failed', '/name'])
    expect((await add('localhost')).status).toBe(400)
  })
})

describe('a name', () => {
  test('that anybody has is taken, without telling whose it is', async () => {
    await add('mine.com')
    const again = await add('mine.com')
    expect(again.status).toBe(409)
    const { status, body } = await strangerAdds('mine.com')
    expect(status).toBe(409)
    expect(body.message).toBe('mine.com is taken on this server. If it is yours, ask the operator who uses it.')
    expect(JSON.stringify(body)).not.toContain(web.id)
  })

  test('that two workspaces add at the same time goes to exactly one', async () => {
    for (let round = 0; round < 20; round++) {
      const name = `race-${round}.com`
      const replies = await Promise.all([add(name), strangerAdds(name), add(name), strangerAdds(name)])
      expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
    }
  })

  test('below a domain that another workspace uses is not proven by an address alone', async () => {
    await dns.a('family.com', ADDRESS)
    await dns.a('sister.family.com', ADDRESS)
    await add('family.com')
    await until('it is verified', async () => (await show('family.com')).verificationStatus === 'verified')
    const { body } = await strangerAdds('sister.family.com')
    const theirs = await until('it has been looked at', async () => {
      const url = `${platform.url}/v1/services/${strangersService}/custom-domains/${body[0].id}`
      const domain = (await call<CustomDomain>(url, { token: stranger.token })).body
      return !domain.isCheckPending && domain
    })
    expect(theirs).toMatchObject({ verificationStatus: 'unverified', lastCheck: { outcome: 'wrong_target' } })
    expect(await statusAt('sister.family.com')).toBe(404)
  })

  test('that was not proven in all the time it was watched gives way to whoever adds it next', async () => {
    await add('squatted.com')
    expect((await strangerAdds('squatted.com')).status).toBe(409)
    platform.db.query('UPDATE custom_domains SET watched_until = ? WHERE name = ?').run(Date.now() - 1, 'squatted.com')
    expect((await strangerAdds('squatted.com')).status).toBe(201)
    expect((await web.ask('/custom-domains/squatted.com')).status).toBe(404)
    expect((await web.events()).at(-1)).toEqual({ type: 'custom_domain_removed', details: { name: 'squatted.com' } })
    expect(WATCHED_MS).toBe(3 * 24 * 3600 * 1000)
  })

  test('under traffic is removed without a broken answer', async () => {
    await dns.a('busy.com', ADDRESS)
    await add('busy.com')
    await until('it is routed', async () => (await statusAt('busy.com')) === 200)
    const statuses = new Set<number>()
    let isOver = false
    const traffic = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) statuses.add(await statusAt('busy.com'))
      }),
    )
    await until('it is asked', () => statuses.has(200))
    expect((await remove('busy.com')).status).toBe(204)
    await until('whoever asks is told that it is gone', () => statuses.has(404))
    isOver = true
    await traffic
    expect([...statuses].toSorted()).toEqual([200, 404])
    expect(await statusAt('web.apps.acme.com')).toBe(200)
  })
})
