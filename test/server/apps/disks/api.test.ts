import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openVolumes } from '../../../../server/engines/process/volumes/volumes.ts'
import { bytesOf, type Disk } from '../../../../shared/disk.ts'
import type { Service } from '../../../../shared/service.ts'
import { ampleRoom } from '../../../engines/process/volumes/world.ts'
import { createService } from '../../../support/apps.ts'
import { call, type Reply } from '../../../support/client.ts'
import { idleEngine } from '../../../support/idle-parts.ts'
import { makeKey, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  // The paths and the room are those of this machine.
  const volumes = openVolumes({ dir: '/nowhere', mounts: 'folders', needed: [], room: { ...ampleRoom, bytes: () => bytesOf(50_000) } })
  server = await startTestServer({ parts: { engine: { ...idleEngine, volumes } } })
})
afterAll(() => server.close())

interface Refusal {
  message: string
  code: string
  details?: { path: string }[]
}

let count = 0
const newService = (body: Record<string, unknown> = {}) => createService(server, { name: `svc-${++count}`, ...body })
const ask = <T = Refusal>(path: string, options: { method?: string; json?: unknown; token?: string } = {}): Promise<Reply<T>> =>
  call<T>(`${server.url}${path}`, { token: server.adminToken, ...options })
const addDisk = <T = Disk>(serviceId: string, changes: Record<string, unknown> = {}) =>
  ask<T>('/v1/disks', { json: { serviceId, name: 'data', mountPath: '/var/data', sizeGB: 1, ...changes } })
/** Its reconciler, which does not run here, leaves it like this. */
const settle = (id: string) => server.db.query("UPDATE disks SET status = 'available', grow_to_gb = NULL WHERE id = ?").run(id)

describe('a disk', () => {
  test('is shown by its service, with how that is deployed', async () => {
    const id = await newService()
    const before = await ask<Service>(`/v1/services/${id}`)
    expect(before.body.serviceDetails).toMatchObject({ deployStrategy: 'rolling' })
    const { status, body } = await addDisk(id)
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { serviceId: id, name: 'data', mountPath: '/var/data', sizeGB: 1, status: 'creating' },
    })
    const after = await ask<Service>(`/v1/services/${id}`)
    const shown = { id: body.id, name: 'data', sizeGB: 1, mountPath: '/var/data' }
    expect(after.body.serviceDetails).toMatchObject({ deployStrategy: 'stop_first', disk: shown })
  })

  test('comes with a service, of ten GB unless told', async () => {
    const id = await newService({ serviceDetails: { disk: { name: 'data', mountPath: '/srv/data' } } })
    const { body } = await ask<Service>(`/v1/services/${id}`)
    expect(body.serviceDetails.disk).toMatchObject({ sizeGB: 10, mountPath: '/srv/data' })
  })

  test('is one of a service, whose number of instances is one: neither way round is there another', async () => {
    const id = await newService()
    await addDisk(id)
    expect(await addDisk(id)).toMatchObject({ status: 409 })
    expect(await ask(`/v1/services/${id}/scale`, { json: { numInstances: 2 } })).toMatchObject({ status: 409 })
    expect(await ask(`/v1/services/${id}`, { method: 'PATCH', json: { serviceDetails: { numInstances: 2 } } })).toMatchObject({
      status: 409,
    })
    const two = await newService({ serviceDetails: { numInstances: 2 } })
    expect(await addDisk<Refusal>(two)).toMatchObject({ status: 409, body: { message: expect.stringContaining('Scale it to 1') } })
    const json = { type: 'web_service', name: 'both', serviceDetails: { numInstances: 2, disk: { name: 'data', mountPath: '/var/data' } } }
    expect(await ask('/v1/services', { json })).toMatchObject({ status: 409 })
  })

  test.each([
    [{ mountPath: '/etc/app' }, '/mountPath', 'belongs to the system'],
    [{ mountPath: '/var/../etc' }, '/mountPath', 'clean'],
    [{ mountPath: 'data' }, '/mountPath', 'absolute'],
    [{ mountPath: '/cpd-test-lacks-this/data' }, '/mountPath', 'has no folder /cpd-test-lacks-this'],
    [{ mountPath: '/var/run/data' }, '/mountPath', 'belongs to the system'],
    [{ sizeGB: 60_000 }, '/sizeGB', 'at most'],
    [{ sizeGB: 0 }, '/sizeGB', ''],
    [{ name: '../data' }, '/name', ''],
  ])('cannot be %j', async (changes, path, words) => {
    const { status, body } = await addDisk<Refusal>(await newService(), changes)
    expect(status).toBe(400)
    expect(body.details?.[0]?.path).toBe(path)
    expect(JSON.stringify(body)).toContain(words)
  })

  test('cannot hide what instances need', async () => {
    const { body } = await addDisk<Refusal>(await newService(), { mountPath: '/var/lib' })
    expect(body.message).toContain('folders of the machine')
  })

  test('goes with no static site and no cron job, nor with a change of a service', async () => {
    const site = await newService({ type: 'static_site', serviceDetails: { cutoverGuard: { enabled: false } } })
    expect(await addDisk(site)).toMatchObject({ status: 400 })
    const disk = { name: 'data', mountPath: '/var/data' }
    expect(await ask('/v1/services', { json: { type: 'static_site', name: 'site', serviceDetails: { disk } } })).toMatchObject({
      status: 400,
    })
    const patched = await ask(`/v1/services/${await newService()}`, { method: 'PATCH', json: { serviceDetails: { disk } } })
    expect(patched).toMatchObject({ status: 400, body: { message: expect.stringContaining('POST /v1/disks') } })
    expect(await ask('/v1/services', { json: { type: 'static_site', name: 'neutral', serviceDetails: { disk: null } } })).toMatchObject({
      status: 201,
    })
  })

  test('is changed while nothing else is being done with it', async () => {
    const { body } = await addDisk(await newService())
    const path = `/v1/disks/${body.id}`
    expect(await ask(path, { method: 'PATCH', json: { sizeGB: 2 } })).toMatchObject({ status: 409 })
    settle(body.id)
    expect(await ask(path, { method: 'PATCH', json: { name: 'renamed', mountPath: '/srv/moved' } })).toMatchObject({
      status: 200,
      body: { name: 'renamed', mountPath: '/srv/moved', status: 'available' },
    })
    expect(await ask(path, { method: 'PATCH', json: { mountPath: '/usr' } })).toMatchObject({ status: 400 })
    expect(await ask(path, { method: 'PATCH', json: { sizeGB: 2 } })).toMatchObject({
      status: 200,
      body: { sizeGB: 2, status: 'resizing' },
    })
    expect(await ask(`${path}/snapshots`, { method: 'POST' })).toMatchObject({ status: 409 })
  })

  test('of a service that lives cannot be given to another', async () => {
    const { body } = await addDisk(await newService())
    settle(body.id)
    const given = await ask(`/v1/disks/${body.id}`, { method: 'PATCH', json: { serviceId: await newService() } })
    expect(given).toMatchObject({ status: 409, body: { message: expect.stringContaining('Only one whose service was deleted') } })
  })
})

describe('disks', () => {
  test('are listed by service, name and time, a page at a time', async () => {
    const [first, second] = [await newService(), await newService()]
    const made = [await addDisk(first, { name: 'one' }), await addDisk(second, { name: 'two' })].map(({ body }) => body.id)
    const list = async (query: string) => (await ask<{ disk: Disk; cursor: string }[]>(`/v1/disks?${query}`)).body
    expect((await list(`serviceId=${first},${second}`)).map(({ disk }) => disk.id)).toEqual(made.toReversed())
    expect((await list('name=one')).map(({ disk }) => disk.name)).toEqual(['one'])
    const [page] = await list(`diskId=${made.join()}&limit=1`)
    expect((await list(`diskId=${made.join()}&cursor=${page?.cursor}`)).map(({ disk }) => disk.id)).toEqual([made[0]])
    expect(await list('createdBefore=2001-01-01T00:00:00Z')).toEqual([])
  })

  test("of another workspace are not found, and a viewer's key changes none", async () => {
    const { body } = await addDisk(await newService())
    settle(body.id)
    const stranger = await registerTenant(server, 'stranger@example.com')
    for (const path of ['', '/snapshots'])
      expect(await ask(`/v1/disks/${body.id}${path}`, { token: stranger.token })).toMatchObject({ status: 404 })
    expect((await ask<unknown[]>('/v1/disks', { token: stranger.token })).body).toEqual([])
    const theirs = await createService(server, { name: 'theirs' }, stranger.token)
    expect(await addDisk(theirs)).toMatchObject({ status: 404 })
    const viewer = await makeKey(server, 'viewer')
    expect(await ask(`/v1/disks/${body.id}`, { token: viewer.secret })).toMatchObject({ status: 200 })
    expect(await ask(`/v1/disks/${body.id}`, { method: 'DELETE', token: viewer.secret })).toMatchObject({ status: 403 })
  })
})
