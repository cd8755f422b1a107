import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { deployEnd, packApp, upload } from '../support/apps.ts'
import { type CallOptions, call, type Reply } from '../support/client.ts'
import { expectError } from './expect-error.ts'
import { makeWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await makeWorld()
})
afterAll(() => world.close())

const api = <T = Record<string, unknown>>(path: string, options: CallOptions = {}): Promise<Reply<T>> =>
  call<T>(`${world.platform.url}/v1${path}`, { token: world.platform.adminToken, ...options })
const put = (path: string, json: unknown) => api(path, { method: 'PUT', json })

describe('a service', () => {
  test('of a name that is taken is a conflict, also when it is renamed', async () => {
    expectError(await api('/services', { json: { type: 'web_service', name: 'live' } }), 'conflict')
    expectError(await api(`/services/${await world.makeService()}`, { method: 'PATCH', json: { name: 'live' } }), 'conflict')
  })

  test('of a name that another workspace has is none', async () => {
    const reply = await api('/services', { json: { type: 'web_service', name: 'live' }, token: world.stranger.token })
    expect(reply.status).toBe(201)
  })

  test('is created once when it is asked for at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => api('/services', { json: { type: 'web_service', name: 'raced' } })))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
  })

  test('is not scaled to none or to a thousand', async () => {
    for (const numInstances of [0, -1, 1000, 1.5, '2', null]) {
      const { details } = expectError(await api(`/services/${world.serviceId}/scale`, { json: { numInstances } }), 'validation_failed')
      expect(details?.[0]?.path).toBe('/numInstances')
    }
    expectError(await api(`/services/${world.serviceId}/scale`, { json: {} }), 'validation_failed')
  })

  test('without anything live is neither restarted nor rolled back', async () => {
    const id = await world.makeService()
    expectError(await api(`/services/${id}/restart`, { method: 'POST' }), 'conflict')
    expectError(await api(`/services/${id}/rollback`, { method: 'POST' }), 'conflict')
  })

  test.each([{}, { deployMode: 'deploy_only' }])('without source is deployed to no avail, and told what to do: %j', async (json) => {
    const id = await world.makeService()
    const { status, body } = await api<{ id: string; status: string }>(`/services/${id}/deploys`, { json })
    expect(status).toBe(201)
    const { status: ended, reason } = await deployEnd(world.platform, id, body.id)
    expect({ ended, reason }).toMatchObject({ ended: 'build_failed', reason: expect.stringContaining('cpctl deploy') })
  })

  test('that is suspended is neither deployed nor restarted', async () => {
    const id = await world.makeService()
    await api(`/services/${id}/suspend`, { method: 'POST' })
    expectError(await api(`/services/${id}/deploys`, { method: 'POST' }), 'conflict')
    expectError(await api(`/services/${id}/restart`, { method: 'POST' }), 'conflict')
  })

  test('of a static site has no instances to scale or restart, and no field of another type', async () => {
    const id = await world.makeService({ type: 'static_site' })
    expectError(await api(`/services/${id}/scale`, { json: { numInstances: 2 } }), 'conflict')
    const { details } = expectError(
      await api(`/services/${id}`, { method: 'PATCH', json: { serviceDetails: { plan: 'pro' } } }),
      'validation_failed',
    )
    expect(details?.[0]?.path).toBe('/serviceDetails/plan')
  })

  test('takes nothing from folders above its source', async () => {
    for (const rootDir of ['../other', '/etc', 'a/../../b', 'a\\b', 'a\u0000b']) {
      expectError(await api(`/services/${world.serviceId}`, { method: 'PATCH', json: { rootDir } }), 'validation_failed')
    }
  })

  test('that is deleted is gone at once for everybody', async () => {
    const id = await world.makeService()
    expect((await api(`/services/${id}`, { method: 'DELETE' })).status).toBe(204)
    expectError(await api(`/services/${id}`), 'not_found')
    expectError(await api(`/services/${id}`, { method: 'DELETE' }), 'not_found')
  })
})

describe('variables and files', () => {
  test('have names', async () => {
    for (const key of ['', '1A', 'A B', 'A=B', 'A-B', 'ä', 'A\n', 'A'.repeat(256)]) {
      const { details } = expectError(await put(`/services/${world.serviceId}/env-vars`, [{ key, value: 'x' }]), 'validation_failed')
      expect(details?.[0]?.path).toBe('/0/key')
    }
    expectError(await put(`/services/${world.serviceId}/env-vars/1A`, { value: 'x' }), 'validation_failed')
    for (const name of ['', '.', '..', '../x', 'a/b', 'a\u0000', 'x'.repeat(129)]) {
      const { details } = expectError(await put(`/services/${world.serviceId}/secret-files`, [{ name, content: 'x' }]), 'validation_failed')
      expect(details?.[0]?.path).toBe('/0/name')
    }
  })

  test('have one value each', async () => {
    const env = `/services/${world.serviceId}/env-vars`
    expectError(
      await put(env, [
        { key: 'A', value: '1' },
        { key: 'A', value: '2' },
      ]),
      'validation_failed',
    )
    expectError(await put(env, [{ key: 'A' }]), 'validation_failed')
    expectError(await put(env, [{ key: 'A', value: '1', generateValue: true }]), 'validation_failed')
    expectError(await put(env, [{ key: 'A', value: 'a\u0000b' }]), 'validation_failed')
    expectError(await put(`${env}/A`, {}), 'validation_failed')
    const files = [
      { name: 'a', content: '1' },
      { name: 'a', content: '2' },
    ]
    expectError(await put(`/services/${world.serviceId}/secret-files`, files), 'validation_failed')
  })

  test('stay as they were when they are refused', async () => {
    const before = await api(`/services/${world.serviceId}/env-vars`)
    await put(`/services/${world.serviceId}/env-vars`, [
      { key: 'NEW', value: '1' },
      { key: 'bad key', value: '2' },
    ])
    expect((await api(`/services/${world.serviceId}/env-vars`)).body).toEqual(before.body)
  })

  test('that are made by the server are base64 of 32 bytes, and unlike each other', async () => {
    const id = await world.makeService()
    const { body } = await api<{ envVar: { value: string } }[]>(`/services/${id}/env-vars`, {
      method: 'PUT',
      json: [
        { key: 'A', generateValue: true },
        { key: 'B', generateValue: true },
      ],
    })
    const values = body.map(({ envVar }) => envVar.value)
    expect(values.map((value) => Buffer.from(value, 'base64').length)).toEqual([32, 32])
    expect(new Set(values).size).toBe(2)
  })
})

describe('a deploy', () => {
  test('that has ended is not canceled', async () => {
    expectError(await api(`/services/${world.serviceId}/deploys/${world.deployId}/cancel`, { method: 'POST' }), 'conflict')
  })

  test('that failed changes nothing about what serves, and cannot be rolled back to', async () => {
    await world.settled()
    const live = (await world.platform.ingress.visit('live.localhost')).text
    const reply = await upload(world.platform, world.serviceId, await packApp('build-fails'))
    const failed = await deployEnd(world.platform, world.serviceId, reply.body.deployId)
    expect(failed).toMatchObject({ status: 'build_failed' })
    expect(failed.reason).toMatch(/\w/)
    expect((await world.platform.ingress.visit('live.localhost')).text).toBe(live)
    expectError(await api(`/services/${world.serviceId}/rollback`, { json: { deployId: failed.id } }), 'conflict')
  })
})

describe('an upload', () => {
  const waiting = (serviceId: string) => ({
    uploads: readdirSync(world.platform.context.paths.uploads),
    sources: readdirSync(servicePathsOf(world.platform.context.paths, serviceId).sources),
  })

  test('beside another of the same service: both are kept, and the newer one is live in the end', async () => {
    const id = await world.makeService()
    const archives = [await packApp('hello-js', { VERSION: 'a\n' }), await packApp('hello-js', { VERSION: 'b\n' })]
    const replies = await Promise.all(archives.map((archive) => upload(world.platform, id, archive)))
    expect(replies.map(({ status }) => status)).toEqual([201, 201])
    const ends = await Promise.all(replies.map(({ body }) => deployEnd(world.platform, id, body.deployId)))
    const newest = ends.toSorted((left, right) => (left.id < right.id ? 1 : -1))[0]
    expect(newest?.status).toBe('live')
    for (const { status } of ends) expect(['live', 'deactivated', 'canceled']).toContain(status)
    expect(waiting(id)).toMatchObject({ uploads: [], sources: { length: 2 } })
  })

  test('that is cut off in the middle leaves nothing behind', async () => {
    const id = await world.makeService()
    await upload(world.platform, id, await packApp('hello-js'), { query: '?deploy=false' })
    const before = waiting(id)
    await cutOff(world.platform.url, `/v1/services/${id}/source/upload`, {
      token: world.platform.adminToken,
      bytes: (await packApp('express')).slice(0, 2000),
    })
    await expect.poll(() => waiting(id), { timeout: 10_000 }).toEqual(before)
    const deploys = await api<unknown[]>(`/services/${id}/deploys`)
    expect(deploys.body).toEqual([])
  })

  test('of something else is refused by its type or its bytes', async () => {
    const id = await world.makeService()
    const send = (raw: string | Uint8Array<ArrayBuffer>, type: string) =>
      api(`/services/${id}/source/upload`, { method: 'POST', raw, headers: { 'content-type': type } })
    expectError(await send('{}', 'application/json'), 'unsupported_media_type')
    expectError(await send('not gzip', 'application/gzip'), 'unsupported_media_type')
    expectError(await send(await packApp('hello-js'), 'application/zip'), 'unsupported_media_type')
    expectError(await send((await packApp('hello-js')).slice(0, 200), 'application/gzip'), 'bad_request')
    expectError(await send('', 'application/gzip'), 'bad_request')
    expectError(await api(`/services/${id}/source/upload?deploy=maybe`, { method: 'POST', raw: 'x' }), 'validation_failed')
  })
})

/** Announces more than it sends, then breaks the connection. */
async function cutOff(url: string, path: string, { token, bytes }: { token: string; bytes: Uint8Array }): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } })
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/gzip',
    'Content-Length: 100000',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(bytes)
  socket.flush()
  await Bun.sleep(200)
  socket.terminate()
}

test('a variable that the platform gives is refused by name, wherever it is set', async () => {
  const { body } = await api<{ service: { id: string } }>('/services', { method: 'POST', json: { type: 'web_service', name: 'own port' } })
  const path = `/services/${body.service.id}/env-vars`
  for (const reply of [
    await put(path, [{ key: 'PORT', value: '99' }]),
    await put(`${path}/CPD_DEPLOY_ID`, { value: 'mine' }),
    await api('/services', { method: 'POST', json: { type: 'web_service', name: 'also', envVars: [{ key: 'PORT', value: '1' }] } }),
  ]) {
    expectError(reply, 'validation_failed')
    expect(JSON.stringify(reply.body)).toMatch(/(PORT|CPD_DEPLOY_ID) is given to every instance by the platform/)
  }
})
