import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { ResolvedEnvVar } from '../../../../shared/env.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { liveSource } from '../../../support/fake-source.ts'
import { makeService, type TestService } from '../../../support/service.ts'

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform()
})
afterAll(() => platform.close())

let count = 0
const says = async (text: string): Promise<TestService> => {
  const startCommand = `listen; say ${text}; serve`
  const serviceDetails = { runtime: 'node', envSpecificDetails: { startCommand } }
  return await makeService(platform, { name: `vars-${++count}`, serviceDetails })
}
const put = (service: TestService, path: string, json: unknown) => service.ask<unknown>(`/env-vars${path}`, { method: 'PUT', json })
const marked = (value: string) => ({ value, interpolate: true })
const again = (service: TestService) => service.ask<Deploy>('/deploys', { json: { deployMode: 'deploy_only' } })
const resolved = async (service: TestService): Promise<ResolvedEnvVar[]> =>
  (await service.ask<{ envVar: ResolvedEnvVar }[]>('/env-vars?resolved=true&limit=100')).body.map(({ envVar }) => envVar)

describe('a marked variable', () => {
  test('is kept with its references, and given to the service with their values', async () => {
    const service = await says('$URL $PLAIN')
    await put(service, '', [
      { key: 'HOST', value: 'db.example' },
      { key: 'PLAIN', value: '${HOST}' },
      { key: 'URL', ...marked('pg://${HOST}') },
    ])
    expect((await service.ask('/env-vars/URL')).body).toEqual({ key: 'URL', value: 'pg://${HOST}', interpolate: true })
    expect((await service.ask('/env-vars/PLAIN')).body).toEqual({ key: 'PLAIN', value: '${HOST}' })
    await liveSource(platform, service)
    expect((await platform.visit(service.name)).text).toBe('pg://db.example ${HOST}')
  })

  test('is one no more when it is set without the mark', async () => {
    const service = await says('$A')
    await put(service, '/A', marked('x${B}'))
    expect((await put(service, '/A', { value: 'x${B}' })).body).toEqual({ key: 'A', value: 'x${B}' })
    await liveSource(platform, service)
    expect((await platform.visit(service.name)).text).toBe('x${B}')
  })

  test('comes back with its references by a rollback', async () => {
    const service = await says('$A')
    await put(service, '', [
      { key: 'A', ...marked('<${B}>') },
      { key: 'B', value: 'old' },
    ])
    await liveSource(platform, service)
    await put(service, '', [{ key: 'A', value: 'new' }])
    await service.ends((await again(service)).body.id)
    const { body } = await service.ask<Deploy>('/rollback', { json: {} })
    await service.ends(body.id)
    expect((await platform.visit(service.name)).text).toBe('<old>')
    expect((await service.ask('/env-vars/A')).body).toEqual({ key: 'A', value: '<${B}>', interpolate: true })
  })
})

describe('what cannot be resolved', () => {
  test('is refused at once where it is a circle, with its path, and nothing is changed', async () => {
    const service = await says('x')
    await put(service, '/A', marked('${B}'))
    const { status, body } = await put(service, '/B', marked('${A}'))
    expect({ status, body }).toMatchObject({ status: 400, body: { message: expect.stringContaining('A → B → A') } })
    expect((await service.ask('/env-vars/B')).status).toBe(404)
    const all = [
      { key: 'A', ...marked('${B}') },
      { key: 'B', ...marked('${A}') },
    ]
    expect((await put(service, '', all)).status).toBe(400)
    expect((await put(service, '/B', { value: '${A}' })).status).toBe(200)
  })

  test('is refused at once where it is no reference, or nothing to interpolate', async () => {
    const service = await says('x')
    expect((await put(service, '/A', marked('${B:-c}'))).body).toMatchObject({
      message: expect.stringContaining('${B:-c} in it is no reference'),
    })
    expect((await put(service, '/A', { generateValue: true, interpolate: true })).status).toBe(400)
    expect((await put(service, '/A', { value: '${B:-c}', interpolate: false })).status).toBe(200)
  })

  test('may still be set, so that it is the deploy which fails, and says why', async () => {
    const service = await says('$A')
    await put(service, '', [{ key: 'A', ...marked('${LATER}') }])
    const reason = 'A refers to LATER, which is not set.'
    expect((await resolved(service)).find(({ key }) => key === 'A')).toMatchObject({ value: '', problem: reason.slice(2, -1) })
    await expect(liveSource(platform, service)).rejects.toThrow(reason)
    await put(service, '/LATER', { value: 'now' })
    await liveSource(platform, service)
    expect((await platform.visit(service.name)).text).toBe('now')
    await service.ask('/env-vars/LATER', { method: 'DELETE' })
    expect(await again(service)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(reason), details: [{ path: '/A' }] },
    })
  })
})

describe('the resolved list', () => {
  test('tells of each whose it is, what it comes to, and whether the live release has that', async () => {
    const service = await says('$A')
    await put(service, '', [
      { key: 'A', ...marked('${CPD_SERVICE_NAME}!') },
      { key: 'B', value: 'b' },
    ])
    await liveSource(platform, service)
    await put(service, '/B', { value: 'changed' })
    const all = new Map((await resolved(service)).map((one) => [one.key, one]))
    expect(all.get('A')).toEqual({
      key: 'A',
      value: `${service.name}!`,
      interpolate: true,
      source: { type: 'service' },
      hides: [],
      isLive: true,
    })
    expect(all.get('B')).toMatchObject({ value: 'changed', isLive: false })
    expect(all.get('CPD_SERVICE_ID')).toEqual({ key: 'CPD_SERVICE_ID', value: service.id, source: { type: 'platform' }, hides: [] })
    expect([...all.keys()]).toEqual([...all.keys()].sort())
  })
})

test('a service has at most 1,000 variables, one by one as well', async () => {
  const service = await says('x')
  const many = Array.from({ length: 1000 }, (_, at) => ({ key: `V${at}`, value: 'x' }))
  expect((await put(service, '', many)).status).toBe(200)
  expect((await put(service, '/V0', { value: 'y' })).status).toBe(200)
  expect(await put(service, '/ONE_MORE', { value: 'y' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('1001 variables') },
  })
  expect((await put(service, '', [...many, { key: 'ONE_MORE', value: 'y' }])).status).toBe(400)
})
