import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Me } from '../../../../shared/auth.ts'
import { operationIds, operationOf } from '../../../../shared/operations/all.ts'
import { type Permission, permissionNames, workspaceWide } from '../../../../shared/permission.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { requestOf } from '../../../conformance/requests.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { addEnvironment } from '../../../support/environments.ts'
import { addMember, defaultWorkspaceId, registerTenant } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { closed, frames, openSocket } from '../../../support/socket.ts'

let platform: Platform
let own: string
let other: string
let ownDisk: string
let otherDisk: string
let secret: string

const admin = <T = Record<string, unknown>>(path: string, options: object = {}) =>
  call<T>(`${platform.url}${path}`, { token: platform.adminToken, ...options })
const scoped = <T = Record<string, unknown>>(path: string, options: object = {}, token = secret) =>
  call<T>(`${platform.url}${path}`, { token, ...options })
const newKey = (serviceIds: string[], role = 'admin') =>
  admin<{ id: string; secret: string }>('/v1/api-keys', { json: { name: 'scoped', role, scope: { serviceIds } } })

let count = 0
const newService = (changes = {}) => createService(platform, { name: `scoped-${++count}`, type: 'private_service', ...changes })
const diskOf = async (serviceId: string) =>
  (await admin<{ id: string }>('/v1/disks', { json: { serviceId, name: 'data', mountPath: '/var/data', sizeGB: 1 } })).body.id

beforeAll(async () => {
  platform = await startPlatform()
  own = await newService()
  other = await newService()
  ownDisk = await diskOf(own)
  otherDisk = await diskOf(other)
  secret = (await newKey([own])).body.secret
})
afterAll(() => platform.close())

describe('who is confined to some services', () => {
  test('finds those, and nothing of the others, under every path that names a service', async () => {
    const ofServices = operationIds.filter((id) => /:(serviceId|diskId)/.test(operationOf(id).path))
    expect(ofServices.length).toBeGreaterThan(40)
    for (const id of ofServices) {
      const { path, options } = requestOf(id, { serviceId: other, diskId: otherDisk })
      expect({ id, status: (await scoped(path, options)).status }).toEqual({ id, status: 404 })
    }
    expect((await scoped(`/v1/services/${own}`)).status).toBe(200)
    expect((await scoped(`/v1/disks/${ownDisk}`)).status).toBe(200)
    expect((await scoped(`/v1/services/${own}/env-vars`, { method: 'PUT', json: [{ key: 'A', value: '1' }] })).status).toBe(200)
  })

  test('finds nothing of the others by ids in queries and bodies', async () => {
    for (const path of ['logs', 'metrics/cpu', 'metrics/memory', 'metrics/http-requests', 'metrics/bandwidth', 'metrics/instance-count']) {
      expectError(await scoped(`/v1/${path}?resource=${other}`), 'not_found')
      expectError(await scoped(`/v1/${path}?resource=${own},${other}`), 'not_found')
      expect({ path, status: (await scoped(`/v1/${path}?resource=${own}`)).status }).toEqual({ path, status: 200 })
    }
    expectError(await scoped(`/v1/logs/values?label=level&resource=${other}`), 'not_found')
    const disk = { serviceId: other, name: 'more', mountPath: '/var/more', sizeGB: 1 }
    expectError(await scoped('/v1/disks', { json: disk }), 'not_found')
    expectError(await scoped(`/v1/disks/${ownDisk}`, { method: 'PATCH', json: { serviceId: other } }), 'not_found')
    const events = await admin<{ event: { id: string } }[]>(`/v1/services/${other}/events`)
    const ownEvents = await scoped<{ event: { id: string } }[]>(`/v1/services/${own}/events`)
    expectError(await scoped(`/v1/events/${events.body[0]?.event.id}`), 'not_found')
    expect((await scoped(`/v1/events/${ownEvents.body[0]?.event.id}`)).status).toBe(200)
  })

  test('sees only them in lists, also where the filter names others', async () => {
    const services = await scoped<{ service: { id: string } }[]>('/v1/services')
    expect(services.body.map(({ service }) => service.id)).toEqual([own])
    const disks = await scoped<{ disk: { id: string } }[]>('/v1/disks')
    expect(disks.body.map(({ disk }) => disk.id)).toEqual([ownDisk])
    expect((await scoped(`/v1/disks?serviceId=${other}`)).body).toEqual([])
    const usage = await scoped<{ serviceId: string }[]>('/v1/metrics')
    expect(usage.body.map(({ serviceId }) => serviceId)).toEqual([own])
    const scraped = await scoped<string>('/metrics')
    expect(scraped.status).toBe(200)
    expect(scraped.body).not.toContain(other)
    expect(scraped.body).not.toContain('cpd_build_info')
  })

  test('reads and follows the logs of those only', async () => {
    const { logStore } = platform.context
    const line = (resource: string, message: string) =>
      logStore.append([{ timestampMs: Date.now(), resource, instance: `${resource}-00000`, type: 'app', level: 'info', message }])
    const socket = await openSocket(`${platform.url}/v1/logs/subscribe`, { authorization: `Bearer ${secret}` })
    line(other, 'of the other')
    line(own, 'of mine')
    const [first = ''] = await frames(socket, 1)
    expect(JSON.parse(first)).toMatchObject({ message: 'of mine' })
    const history = await scoped<{ logs: { message: string }[] }>('/v1/logs')
    expect(history.body.logs.map(({ message }) => message)).toEqual(['of mine'])
    const values = await scoped('/v1/logs/values?label=resource')
    expect(values.body).toEqual([own])
    expectError(await scoped(`/v1/logs/subscribe?resource=${other}`), 'not_found')
    socket.close()
  })

  test('reads the logs and metrics of no database but those of its environments', async () => {
    const { logStore } = platform.context
    const workspaceId = await defaultWorkspaceId(platform)
    const { environmentId } = addEnvironment(platform, { workspaceId })
    const [inside, outside] = [
      addDatastore(platform, { workspaceId, environmentId }),
      addDatastore(platform, { workspaceId, kind: 'key_value' }),
    ]
    for (const resource of [inside, outside])
      logStore.append([{ timestampMs: Date.now(), resource, instance: `${resource}-00000`, type: 'app', level: 'info', message: resource }])
    const key = await admin<{ secret: string }>('/v1/api-keys', {
      json: { name: 'of one environment', role: 'viewer', scope: { environmentIds: [environmentId] } },
    })
    const read = (query: string) => scoped<{ logs: { message: string }[] }>(`/v1/logs?${query}`, {}, key.body.secret)
    for (const query of ['', `resource=${inside}`]) expect((await read(query)).body.logs.map(({ message }) => message)).toEqual([inside])
    expectError(await read(`resource=${inside},${outside}`), 'not_found')
    for (const path of [`logs/values?label=level&resource=${outside}`, `metrics/cpu?resource=${outside}`, `metrics/${outside}/cpu`])
      expectError(await scoped(`/v1/${path}`, {}, key.body.secret), 'not_found')
    for (const path of [`metrics/memory?resource=${inside}`, `metrics/${inside}/cpu`, `services/${inside}/metrics/history`])
      expect({ path, status: (await scoped(`/v1/${path}`, {}, key.body.secret)).status }).toEqual({ path, status: 200 })
    const all = await admin<{ logs: { message: string }[] }>(`/v1/logs?resource=${inside},${outside}`)
    expect(all.body.logs.map(({ message }) => message).toSorted()).toEqual([inside, outside].toSorted())
  })

  test('holds nothing of the workspace as a whole, whatever the role', async () => {
    const me = await scoped<Me>('/v1/auth/me')
    expect(me.body.role).toBe('admin')
    expect(me.body.permissions).toEqual(permissionNames.filter((name) => !workspaceWide.has(name)))
    for (const id of operationIds.filter((name) => workspaceWide.has(operationOf(name).access as Permission))) {
      const { path, options } = requestOf(id, { ownerId: await defaultWorkspaceId(platform) })
      const message = expectError(await scoped(path, options), 'forbidden').message
      expect(message).toContain(operationOf(id).access)
    }
  })

  test('is not told the name of a service that has a domain they want', async () => {
    const site = await newService({ type: 'web_service' })
    const taken = await newService({ type: 'web_service', name: 'hidden-name' })
    await admin(`/v1/services/${taken}/custom-domains`, { json: { name: 'taken.example.com' } })
    const { secret: token } = (await newKey([site])).body
    const reply = await scoped(`/v1/services/${site}/custom-domains`, { json: { name: 'taken.example.com' } }, token)
    const { message } = expectError(reply, 'conflict')
    expect(message).toContain('another service')
    expect(message).not.toContain('hidden-name')
  })
})

describe('a scope', () => {
  test('holds services of the workspace only', async () => {
    const tenant = await registerTenant(platform, 'scope-tenant@example.com')
    const theirs = await call<{ service: { id: string } }>(`${platform.url}/v1/services`, {
      json: { type: 'private_service', name: 'theirs' },
      token: tenant.token,
    })
    for (const id of [theirs.body.service.id, 'srv-00000000000000000000']) {
      const { details } = expectError(await newKey([own, id]), 'not_found')
      expect(details?.[0]?.path).toBe('/scope/serviceIds/1')
    }
    for (const scope of [{ serviceIds: [] }, { serviceIds: ['web'] }, {}, { serviceIds: [own], all: true }, [], 'all', true])
      expectError(await admin('/v1/api-keys', { json: { name: 'odd', scope } }), 'validation_failed')
    const whole = await admin<{ id: string }>('/v1/api-keys', { json: { name: 'whole', scope: null } })
    expect((await admin(`/v1/api-keys/${whole.body.id}`)).body).toMatchObject({ scope: null })
  })

  test('loses a service that is deleted, and a scope of deleted services is nothing and not everything', async () => {
    const [first, second] = [await newService(), await newService()]
    const { id, secret: token } = (await newKey([first, second])).body
    const member = await addMember(platform, await defaultWorkspaceId(platform), 'developer')
    platform.db.query('UPDATE members SET scope = ? WHERE user_id = ?').run(JSON.stringify([first]), member.userId)
    await admin(`/v1/services/${first}`, { method: 'DELETE' })
    expect((await admin(`/v1/api-keys/${id}`)).body).toMatchObject({ scope: { serviceIds: [second] } })
    await admin(`/v1/services/${second}`, { method: 'DELETE' })
    expect((await admin(`/v1/api-keys/${id}`)).body).toMatchObject({ scope: { serviceIds: [] } })
    for (const who of [{ token }, { cookie: member.cookie }]) {
      expect((await call(`${platform.url}/v1/services`, who)).body).toEqual([])
      expect((await call(`${platform.url}/v1/disks`, who)).body).toEqual([])
      expect((await call(`${platform.url}/v1/logs`, who)).body).toMatchObject({ logs: [] })
      expectError(await call(`${platform.url}/v1/services/${own}`, who), 'not_found')
      const create = { json: { type: 'private_service', name: 'new' }, headers: { origin: platform.url }, ...who }
      expectError(await call(`${platform.url}/v1/services`, create), 'forbidden')
    }
  })

  test('that is narrowed holds at the next request, and closes WebSockets that were opened under the wider one', async () => {
    const member = await addMember(platform, await defaultWorkspaceId(platform), 'developer')
    const headers = { cookie: member.cookie, origin: platform.url }
    const narrow = (scope: string[]) =>
      platform.db.query('UPDATE members SET scope = ? WHERE user_id = ?').run(JSON.stringify(scope), member.userId)
    for (const scope of [[own, other], [own]]) {
      const socket = await openSocket(`${platform.url}/v1/logs/subscribe`, headers)
      const end = closed(socket)
      narrow(scope)
      const list = await call<{ service: { id: string } }[]>(`${platform.url}/v1/services?limit=100`, { cookie: member.cookie })
      expect(list.body.map(({ service }) => service.id).sort()).toEqual([...scope].sort())
      expect(await end).toMatchObject({ code: 1008 })
    }
  })
})
