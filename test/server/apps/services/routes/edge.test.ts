import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deployEnd, packApp, upload } from '../../../../support/apps.ts'
import { type Platform, startPlatform } from '../../../../support/platform.ts'
import { makeService, type TestService } from '../../../../support/service.ts'
import { until } from '../../../../support/until.ts'

let platform: Platform
let service: TestService
beforeAll(async () => {
  platform = await startPlatform()
  service = await makeService(platform, { name: 'shop' })
  await service.goLive('hello-js')
})
afterAll(() => platform.close())

const visit = (path = '/') => platform.ingress.visit('shop.localhost', path)
const patch = (serviceDetails: Record<string, unknown>) => service.ask('', { method: 'PATCH', json: { serviceDetails } })
const details = async () => (await service.ask<{ serviceDetails: Record<string, unknown> }>('')).body.serviceDetails
const instanceIds = async () => (await service.instances()).map(({ id }) => id)

test('maintenance mode is in force when the call returns, leaves the instances alone, and ends the same way', async () => {
  const before = await instanceIds()
  expect((await patch({ maintenanceMode: { enabled: true } })).status).toBe(200)
  expect(await visit()).toMatchObject({ status: 503, text: expect.stringContaining('shop is down for maintenance.') })
  await patch({ maintenanceMode: { enabled: true, uri: 'https://status.example.com/' } })
  expect((await visit()).status).toBe(302)
  await patch({ maintenanceMode: { enabled: false, uri: '' } })
  expect((await visit()).status).toBe(200)
  expect(await instanceIds()).toEqual(before)
})

describe('the allow list', () => {
  test('is everywhere at first, and in force when the call returns', async () => {
    expect((await details()).ipAllowList).toEqual([{ cidrBlock: '0.0.0.0/0', description: 'everywhere' }])
    await patch({ ipAllowList: [{ cidrBlock: '192.0.2.0/24', description: 'office' }] })
    expect((await visit()).status).toBe(403)
    await patch({ ipAllowList: [{ cidrBlock: '127.0.0.0/8' }] })
    expect((await visit()).status).toBe(200)
    await patch({ ipAllowList: [] })
    expect((await visit()).status).toBe(403)
    await patch({ ipAllowList: [{ cidrBlock: '0.0.0.0/0' }] })
    expect((await visit()).status).toBe(200)
  })
  test('with a block that is none is refused whole, and the block named', async () => {
    const { status, body } = await patch({ ipAllowList: [{ cidrBlock: '127.0.0.1' }, { cidrBlock: '300.0.0.0/8' }] })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'validation_failed', details: [{ path: '/serviceDetails/ipAllowList/1/cidrBlock' }] })
    expect((await visit()).status).toBe(200)
  })
})

test('redirects and headers of a web service come with its next release and go with a rollback, the controls with neither', async () => {
  const guarded = { cutoverGuard: { enabled: false } }
  await patch({
    routes: [{ type: 'redirect', source: '/old', destination: '/new' }],
    headers: [{ path: '/*', name: 'X-Edge', value: '1' }],
  })
  await patch({ ipAllowList: [{ cidrBlock: '127.0.0.0/8', description: 'here' }], ...guarded })
  expect((await visit('/old')).status).toBe(200)
  await service.goLive('hello-js')
  expect((await visit('/old')).status).toBe(301)
  const answer = await fetch(`http://${platform.ingress.address}/`, { headers: { host: 'shop.localhost' } })
  expect(answer.headers.get('x-edge')).toBe('1')
  const { body } = await service.ask<{ id: string }>('/rollback', { method: 'POST', json: {} })
  await service.ends(body.id)
  expect((await visit('/old')).status).toBe(200)
  expect(await details()).toMatchObject({ routes: [], headers: [], ipAllowList: [{ cidrBlock: '127.0.0.0/8', description: 'here' }] })
})

describe('PUT of routes and headers', () => {
  const put = (of: TestService, what: string, json: unknown) => of.ask<{ id: string }[]>(`/${what}`, { method: 'PUT', json })
  const toNew = { type: 'redirect', source: '/put', destination: '/new' }

  test('is in force when the call returns, in the live release, and goes with a rollback', async () => {
    const { status, body } = await put(service, 'routes', [toNew])
    expect({ status, body }).toEqual({ status: 200, body: [{ id: expect.stringMatching(/^rdr-[0-9a-v]{20}$/), ...toNew, priority: 0 }] })
    await put(service, 'headers', [{ path: '/*', name: 'X-Put', value: '1' }])
    expect((await visit('/put')).status).toBe(301)
    const answer = await fetch(`http://${platform.ingress.address}/`, { headers: { host: 'shop.localhost' } })
    expect(answer.headers.get('x-put')).toBe('1')
    expect((await service.ask('/routes')).body).toMatchObject([{ route: { id: body[0]?.id, ...toNew }, cursor: expect.any(String) }])
    await service.goLive('hello-js')
    expect((await visit('/put')).status).toBe(301)
    await put(service, 'routes', [])
    expect((await visit('/put')).status).toBe(200)
    const rollback = await service.ask<{ id: string }>('/rollback', { method: 'POST', json: {} })
    await service.ends(rollback.body.id)
    expect((await visit('/put')).status).toBe(301)
    expect((await details()).routes).toEqual([toNew])
  })

  test('while a release is built is in force in that release: Terraform sends it right after the deploy', async () => {
    const site = await makeService(platform, {
      name: 'site',
      type: 'static_site',
      serviceDetails: { buildCommand: 'sleep 2', publishPath: '.' },
    })
    const { body } = await upload(platform, site.id, await packApp('static-plain'))
    const rewrite = { type: 'rewrite', source: '/*', destination: '/index.html', priority: 0 }
    await until(
      'the build has begun',
      async () => (await site.ask<{ status: string }>(`/deploys/${body.deployId}`)).body.status !== 'queued',
    )
    expect((await put(site, 'routes', [rewrite])).status).toBe(200)
    expect((await deployEnd(platform, site.id, body.deployId)).status).toBe('live')
    expect((await platform.ingress.visit('site.localhost', '/anywhere')).status).toBe(200)
  })

  test('of rules that the service cannot have is refused by their place', async () => {
    const { status, body } = await put(service, 'routes', [toNew, { type: 'rewrite', source: '/*', destination: '/index.html' }])
    expect({ status, body }).toMatchObject({ status: 400, body: { details: [{ path: '/1/type' }] } })
    const reserved = [{ path: '/*', name: 'Content-Length', value: '0' }]
    expect((await put(service, 'headers', reserved)).body).toMatchObject({ details: [{ path: '/0/name' }] })
    expect((await service.ask('/headers')).body).toHaveLength(1)
  })
})
