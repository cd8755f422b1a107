import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Me } from '../../../../shared/auth.ts'
import type { ScopeInput } from '../../../../shared/scope.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { addEnvironment, type TestEnvironment } from '../../../support/environments.ts'
import { addMember, defaultWorkspaceId } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { closed, frames, openSocket } from '../../../support/socket.ts'

let platform: Platform
let workspaceId: string
let staging: TestEnvironment
let production: TestEnvironment

beforeAll(async () => {
  platform = await startPlatform()
  workspaceId = await defaultWorkspaceId(platform)
})
afterAll(() => platform.close())
beforeEach(() => {
  staging = addEnvironment(platform, { workspaceId })
  production = addEnvironment(platform, { workspaceId, projectId: staging.projectId })
})

const as =
  (token: string) =>
  <T = Record<string, unknown>>(path: string, options: object = {}) =>
    call<T>(`${platform.url}/v1${path}`, { token, ...options })
const admin: ReturnType<typeof as> = (path, options) => as(platform.adminToken)(path, options)

const newKey = async (scope: ScopeInput, role = 'developer') =>
  (await admin<{ id: string; secret: string }>('/api-keys', { json: { name: 'scoped', role, scope } })).body

let count = 0
const newService = async (environmentId?: string, by = admin) => {
  const json = { type: 'private_service', name: `placed-${++count}`, ...(environmentId && { environmentId }) }
  return (await by<{ service: { id: string } }>('/services', { json })).body.service.id
}
const move = (id: string, environmentId: string | null, by = admin) =>
  by(`/services/${id}?force=true`, { method: 'PATCH', json: { environmentId } })
const seen = async (by: typeof admin): Promise<string[]> =>
  (await by<{ service: { id: string } }[]>('/services?limit=100')).body.map(({ service }) => service.id)

describe('a key that is confined to an environment', () => {
  test('creates there and nowhere else, and what it made is its own at once', async () => {
    const own = as((await newKey({ environmentIds: [staging.environmentId] })).secret)
    const named = await newService(staging.environmentId, own)
    // A request without an environment can mean one only.
    const unnamed = await newService(undefined, own)
    expect((await seen(own)).toSorted()).toEqual([named, unnamed].toSorted())
    expect((await own(`/services/${unnamed}`)).body).toMatchObject({ environmentId: staging.environmentId })
    for (const environmentId of [production.environmentId, 'evm-00000000000000000000'])
      expectError(await own('/services', { json: { type: 'private_service', name: 'elsewhere', environmentId } }), 'not_found')
  })

  test('is told where it may create when there are several such places, or none', async () => {
    const json = { type: 'private_service', name: 'somewhere' }
    const both = as((await newKey({ environmentIds: [staging.environmentId, production.environmentId] })).secret)
    const { message } = expectError(await both('/services', { json }), 'forbidden')
    expect(message).toContain(staging.environmentId)
    expect(message).toContain(production.environmentId)
    const named = as((await newKey({ serviceIds: [await newService(staging.environmentId)] })).secret)
    expect(expectError(await named('/services', { json }), 'forbidden').message).toContain('services.create')
  })

  test('sees what is in it in every list, and nothing else', async () => {
    const [inside, outside] = [await newService(staging.environmentId), await newService(production.environmentId)]
    const diskOf = async (serviceId: string) =>
      (await admin<{ id: string }>('/disks', { json: { serviceId, name: 'data', mountPath: '/var/data', sizeGB: 1 } })).body.id
    const [disk, otherDisk] = [await diskOf(inside), await diskOf(outside)]
    const line = (resource: string) =>
      ({ timestampMs: Date.now(), resource, instance: `${resource}-00000`, type: 'app', level: 'info' }) as const
    platform.context.logStore.append([inside, outside].map((id) => ({ ...line(id), message: id })))
    const own = as((await newKey({ environmentIds: [staging.environmentId] })).secret)
    expect(await seen(own)).toEqual([inside])
    expect((await own<{ disk: { id: string } }[]>('/disks')).body.map((item) => item.disk.id)).toEqual([disk])
    expectError(await own(`/disks/${otherDisk}`), 'not_found')
    expect((await own<{ serviceId: string }[]>('/metrics')).body.map(({ serviceId }) => serviceId)).toEqual([inside])
    expect((await own<{ logs: { message: string }[] }>('/logs')).body.logs.map(({ message }) => message)).toEqual([inside])
    expectError(await own(`/logs?resource=${outside}`), 'not_found')
    for (const id of [inside, outside]) await admin(`/services/${id}/suspend`, { method: 'POST' })
    const events = await own<{ event: { serviceId: string } }[]>('/events?limit=100')
    expect(new Set(events.body.map(({ event }) => event.serviceId))).toEqual(new Set([inside]))
    const environments = await own<{ environment: { id: string } }[]>('/environments')
    expect(environments.body.map(({ environment }) => environment.id)).toEqual([staging.environmentId])
    const scraped = await call<string>(`${platform.url}/metrics`, {
      token: (await newKey({ environmentIds: [staging.environmentId] })).secret,
    })
    expect(scraped.body).not.toContain(outside)
  })

  test('loses what is moved out and finds what is moved in, from the next request on', async () => {
    const own = as((await newKey({ environmentIds: [staging.environmentId] })).secret)
    const service = await newService(staging.environmentId)
    expect((await own(`/services/${service}`)).status).toBe(200)
    await move(service, production.environmentId)
    expectError(await own(`/services/${service}`), 'not_found')
    await move(service, null)
    expectError(await own(`/services/${service}`), 'not_found')
    await move(service, staging.environmentId)
    expect((await own(`/services/${service}`)).status).toBe(200)
  })

  test('moves services between its own places only', async () => {
    const own = as((await newKey({ environmentIds: [staging.environmentId] })).secret)
    const both = as((await newKey({ projectIds: [staging.projectId] })).secret)
    const service = await newService(staging.environmentId)
    const stranger = await newService(production.environmentId)
    expectError(await move(service, null, own), 'forbidden')
    expectError(await move(service, production.environmentId, own), 'not_found')
    expectError(await move(stranger, staging.environmentId, own), 'not_found')
    expect((await move(service, production.environmentId, both)).status).toBe(200)
    expectError(await move(service, null, both), 'forbidden')
  })

  test('says what it is confined to', async () => {
    const scope = { environmentIds: [staging.environmentId], projectIds: [staging.projectId] }
    const { id, secret } = await newKey(scope)
    expect((await admin(`/api-keys/${id}`)).body).toMatchObject({ scope: { serviceIds: [], ...scope } })
    const me = await as(secret)<Me>('/auth/me')
    expect(me.body.scope).toEqual({ serviceIds: [], ...scope })
    expect((await admin<Me>('/auth/me')).body.scope).toBeNull()
  })
})

describe('a key that is confined to a project', () => {
  test('reaches the environments that the project has now', async () => {
    const own = as((await newKey({ projectIds: [staging.projectId] })).secret)
    const [first, second] = [await newService(staging.environmentId), await newService(production.environmentId)]
    expect((await seen(own)).toSorted()).toEqual([first, second].toSorted())
    const later = addEnvironment(platform, { workspaceId, projectId: staging.projectId })
    const third = await newService(later.environmentId, own)
    expect((await own(`/services/${third}`)).status).toBe(200)
    await move(third, addEnvironment(platform, { workspaceId }).environmentId)
    expectError(await own(`/services/${third}`), 'not_found')
  })
})

describe('what goes on', () => {
  const follow = (secret: string, query = '') =>
    openSocket(`${platform.url}/v1/logs/subscribe${query}`, { authorization: `Bearer ${secret}` })

  test('ends within 5 s when a service is moved out, and not when others are moved', async () => {
    const { secret } = await newKey({ environmentIds: [staging.environmentId] })
    const [leaving, staying] = [await newService(staging.environmentId), await newService(staging.environmentId)]
    const [ended, kept] = [await follow(secret, `?resource=${leaving}`), await follow(secret, `?resource=${staying}`)]
    const end = closed(ended)
    await move(leaving, production.environmentId)
    expect(await end).toMatchObject({ code: 1008, reason: expect.stringContaining('moved out') })
    const { logStore } = platform.context
    logStore.append([
      { timestampMs: Date.now(), resource: staying, instance: `${staying}-0`, type: 'app', level: 'info', message: 'still here' },
    ])
    expect(JSON.parse((await frames(kept, 1))[0] ?? '')).toMatchObject({ message: 'still here' })
    kept.close()
  })
})

describe('a scope', () => {
  test('loses an environment and a project that are deleted, and is nothing then', async () => {
    const { id, secret } = await newKey({ environmentIds: [production.environmentId], projectIds: [staging.projectId] })
    await admin(`/environments/${production.environmentId}`, { method: 'DELETE' })
    expect((await admin(`/api-keys/${id}`)).body).toMatchObject({ scope: { serviceIds: [], projectIds: [staging.projectId] } })
    await admin(`/projects/${staging.projectId}`, { method: 'DELETE' })
    expect((await admin(`/api-keys/${id}`)).body.scope).toEqual({ serviceIds: [] })
    expect(await seen(as(secret))).toEqual([])
    expectError(await as(secret)('/services', { json: { type: 'private_service', name: 'nowhere' } }), 'forbidden')
  })

  test('names what the workspace has, by its kind', async () => {
    const refused: [ScopeInput, string][] = [
      [{ environmentIds: ['evm-00000000000000000000'] }, '/scope/environmentIds/0'],
      [{ projectIds: [staging.projectId, 'prj-00000000000000000000'] }, '/scope/projectIds/1'],
    ]
    for (const [scope, path] of refused) {
      const { details } = expectError(await admin('/api-keys', { json: { name: 'odd', scope } }), 'not_found')
      expect(details?.[0]?.path).toBe(path)
    }
    for (const scope of [{ serviceIds: [], environmentIds: [], projectIds: [] }, { environmentIds: [staging.projectId] }])
      expectError(await admin('/api-keys', { json: { name: 'odd', scope } }), 'validation_failed')
  })

  test('that becomes a narrower one takes the keys along that reach beyond it, also where today they reach no more', async () => {
    const member = await addMember(platform, workspaceId, 'admin')
    const service = await newService(staging.environmentId)
    const made = async (scope: ScopeInput) => {
      const reply = await call<{ id: string }>(`${platform.url}/v1/api-keys`, {
        json: { name: 'of the member', role: 'viewer', scope },
        cookie: member.cookie,
        headers: { origin: platform.url },
      })
      return reply.body.id
    }
    const [same, ofService, ofProject] = [
      await made({ environmentIds: [staging.environmentId] }),
      await made({ serviceIds: [service] }),
      await made({ projectIds: [staging.projectId] }),
    ]
    const scope = { environmentIds: [staging.environmentId] }
    expect((await admin(`/team-members/${member.userId}`, { method: 'PATCH', json: { role: 'developer', scope } })).status).toBe(200)
    const left = (await admin<{ id: string }[]>('/api-keys')).body.map(({ id }) => id)
    expect([same, ofService, ofProject].map((id) => left.includes(id))).toEqual([true, false, false])
  })
})
