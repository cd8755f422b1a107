import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectError } from '../conformance/expect-error.ts'
import { createService, packApp } from '../support/apps.ts'
import { call, cookieOf } from '../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { testAdmin } from '../support/server.ts'
import { closed, openSocket } from '../support/socket.ts'

let platform: Platform
let serviceId: string
beforeAll(async () => {
  platform = await startPlatform()
  serviceId = await createService(platform, { name: 'watched' })
})
afterAll(() => platform.close())

const revoke = (id: string) => call(`${platform.url}/v1/api-keys/${id}`, { method: 'DELETE', token: platform.adminToken })
const me = (options: { token?: string; cookie?: string }) => call(`${platform.url}/v1/auth/me`, options)
const subscribe = (headers: Record<string, string>) => openSocket(`${platform.url}/v1/logs/subscribe`, headers)
const POLICY_VIOLATION = 1008

test('S8: a revoked key is dead at once, and its open WebSockets within 5 s', async () => {
  const key = await makeKey(platform, 'viewer')
  const socket = await subscribe({ authorization: `Bearer ${key.secret}` })
  const end = closed(socket)
  expect((await me({ token: key.secret })).status).toBe(200)
  await revoke(key.id)
  const revokedAt = Date.now()
  expectError(await me({ token: key.secret }), 'unauthorized')
  expect(await end).toMatchObject({ code: POLICY_VIOLATION })
  expect(Date.now() - revokedAt).toBeLessThan(5000)
})

test('S8: a session that has ended is dead at once, and its open WebSockets within 5 s', async () => {
  const cookie = cookieOf(await call(`${platform.url}/v1/auth/login`, { json: testAdmin }))
  const socket = await subscribe({ cookie, origin: platform.url })
  const end = closed(socket)
  await call(`${platform.url}/v1/auth/logout`, { method: 'POST', cookie, headers: { origin: platform.url } })
  const endedAt = Date.now()
  expectError(await me({ cookie }), 'unauthorized')
  expect(await end).toMatchObject({ code: POLICY_VIOLATION })
  expect(Date.now() - endedAt).toBeLessThan(5000)
})

test('S8: a member who is removed, or given a weaker role, has lost it with the next request', async () => {
  const workspaceId = await defaultWorkspaceId(platform)
  const member = await addMember(platform, workspaceId, 'developer')
  const create = (name: string) =>
    call(`${platform.url}/v1/services`, { json: { type: 'web_service', name }, cookie: member.cookie, headers: { origin: platform.url } })
  expect((await create('while a developer')).status).toBe(201)
  platform.db.query("UPDATE members SET role = 'viewer' WHERE user_id = ?").run(member.userId)
  expectError(await create('as a viewer'), 'forbidden')
  platform.db.query('DELETE FROM members WHERE user_id = ?').run(member.userId)
  expect([401, 403]).toContain((await me({ cookie: member.cookie })).status)
})

test('S8: an upload whose key is revoked before its last byte is refused and leaves nothing', async () => {
  const key = await makeKey(platform, 'developer')
  const archive = await packApp('hello-js')
  const rest = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(archive.slice(0, 100))
      await rest.promise
      controller.enqueue(archive.slice(100))
      controller.close()
    },
  })
  const url = `${platform.url}/v1/services/${serviceId}/source/upload`
  const uploading = call(url, { raw: body, token: key.secret, headers: { 'content-type': 'application/gzip' } })
  await expect.poll(() => readdirSync(platform.context.paths.uploads).length).toBe(1)
  await revoke(key.id)
  rest.resolve()
  expectError(await uploading, 'unauthorized')
  expect(readdirSync(platform.context.paths.uploads)).toEqual([])
  const deploys = await call<unknown[]>(`${platform.url}/v1/services/${serviceId}/deploys`, { token: platform.adminToken })
  expect(deploys.body).toEqual([])
  expect(platform.db.query('SELECT count(*) AS count FROM sources').get()).toEqual({ count: 0 })
})

test('S8: a JSON body whose key is revoked before its last byte changes nothing', async () => {
  const key = await makeKey(platform, 'developer')
  const rest = Promise.withResolvers<void>()
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(encoder.encode('{"type":"web_service",'))
      await rest.promise
      controller.enqueue(encoder.encode('"name":"too late"}'))
      controller.close()
    },
  })
  const creating = call(`${platform.url}/v1/services`, { raw: body, token: key.secret, headers: { 'content-type': 'application/json' } })
  await Bun.sleep(100)
  await revoke(key.id)
  rest.resolve()
  expectError(await creating, 'unauthorized')
  const services = await call<unknown[]>(`${platform.url}/v1/services?name=${encodeURIComponent('too late')}`, {
    token: platform.adminToken,
  })
  expect(services.body).toEqual([])
})
