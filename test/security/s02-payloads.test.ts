import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../shared/operation.ts'
import { operationIds, operationOf } from '../../shared/operations/all.ts'
import { requestOf } from '../conformance/requests.ts'
import { type SourceHosts, startSourceHosts } from '../conformance/source-hosts.ts'
import { createService, deployApp, deployEnd, packApp, upload } from '../support/apps.ts'
import { type CallOptions, call, type Reply } from '../support/client.ts'
import { defaultWorkspaceId } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { addGithubApp } from '../support/source-hosts.ts'
import { payloadsFor } from './payloads.ts'
import { bodiesWith } from './string-fields.ts'

/** No sandbox can write here, so whatever makes it ran as the control plane. */
const canary = `/var/lib/cpd-canary-${process.pid}`
const payloads = payloadsFor(canary)
let sourceHosts: SourceHosts
let platform: Platform
let serviceId: string
beforeAll(async () => {
  sourceHosts = startSourceHosts()
  platform = await startPlatform({ CP_LOGIN_LIMIT: '1000000', ...sourceHosts.env })
  addGithubApp(platform, await defaultWorkspaceId(platform))
  serviceId = await createService(platform, { name: 'steady' })
  await deployApp(platform, serviceId, await packApp('hello-js'))
})
afterAll(async () => {
  await platform.close()
  await sourceHosts.close()
})

const send = async (path: string, options: CallOptions): Promise<Reply> => {
  const reply = await call(platform.url + path, { token: platform.adminToken, ...options })
  // There are a hundred thousand of them, and `expect` costs as much as the request.
  if (reply.status >= 500) expect.fail(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  await discarded(path, reply)
  return reply
}

/** Databases by the hundred are another test's business. */
async function discarded(path: string, { status, body }: Reply): Promise<void> {
  const made = /^\/v1\/(?:postgres|key-value|redis)(?=\?|$)/.exec(path)?.[0]
  if (made !== undefined && status === 201)
    await call(`${platform.url}${made}/${(body as { id: string }).id}`, { token: platform.adminToken, method: 'DELETE' })
}

function expectUnharmed(): void {
  expect(existsSync(canary)).toBe(false)
  expect(platform.logged.filter((line) => line.includes('"level":"error"') && !line.includes('routes not published'))).toEqual([])
}

test('S2: there are enough payloads, and they are different', () => {
  expect(new Set(payloads).size).toBe(payloads.length)
  expect(payloads.length).toBeGreaterThanOrEqual(60)
})

test('S2: a service whose every accepted string is a payload lives through deploy, restart, rollback, suspension and deletion', async () => {
  const accepted: string[] = []
  for (const payload of payloads) {
    const reply = await send('/v1/services', { json: { type: 'web_service', name: payload } })
    if (reply.status === 201) accepted.push((reply.body as { service: { id: string } }).service.id)
  }
  expect(accepted.length).toBeGreaterThan(20)
  const archive = await packApp('hello-js')
  const env = payloads
    .filter((value) => !value.includes('\u0000'))
    .map((value, index) => ({ key: `P${index}`, value: value.toWellFormed() }))
  const files = payloads.map((payload, index) => ({ name: `f${index}`, content: payload.toWellFormed() }))
  for (const id of accepted) {
    await send(`/v1/services/${id}/env-vars`, { method: 'PUT', json: env })
    await send(`/v1/services/${id}/secret-files`, { method: 'PUT', json: files })
  }
  for (const id of accepted.slice(0, 12)) await liveThrough(id, archive)
  for (const id of accepted) expect((await send(`/v1/services/${id}`, { method: 'DELETE' })).status).toBe(204)
  await expect
    .poll(() => platform.db.query('SELECT count(*) AS count FROM services WHERE deleted_at IS NOT NULL').get(), { timeout: 30_000 })
    .toEqual({ count: 0 })
  expectUnharmed()
})

async function liveThrough(id: string, archive: Uint8Array<ArrayBuffer>): Promise<void> {
  await deployApp(platform, id, archive)
  await send(`/v1/services/${id}/deploys`, { json: { deployMode: 'deploy_only' } }).then(({ body }) =>
    deployEnd(platform, id, (body as { id: string }).id),
  )
  expect((await send(`/v1/services/${id}/restart`, { method: 'POST' })).status).toBe(200)
  const { status, body } = await send(`/v1/services/${id}/rollback`, { method: 'POST' })
  expect(status).toBe(201)
  expect(await deployEnd(platform, id, (body as { id: string }).id)).toMatchObject({ status: 'live' })
  expect((await send(`/v1/services/${id}/suspend`, { method: 'POST' })).status).toBe(202)
}

describe.each(operationIds)('S2: %s', (id) => {
  const operation = operationOf(id)
  const { path, options } = requestOf(id, {})

  test('answers every payload in its path, query, headers and body without an error of its own, and runs none', async () => {
    for (const payload of payloads) {
      const bodies = operation.body === undefined ? [] : bodiesWith(operation.body, payload)
      await Promise.all([
        ...pathsWith(operation, payload).map((withPayload) => send(withPayload, options)),
        ...queriesWith(operation, path, payload).map((withPayload) => send(withPayload, options)),
        ...bodies.map((json) => send(path.replace('srv-00000000000000000000', serviceId), { ...options, json: harmless(json) })),
      ])
    }
    expectUnharmed()
  })
})

/** Instances by the hundred are another test's business. */
const harmless = (json: unknown): unknown =>
  typeof json === 'object' && json !== null && 'numInstances' in json ? { numInstances: 1 } : json

function pathsWith({ path }: Operation, payload: string): string[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name)
  return names.map((changed) => path.replace(/:(\w+)/g, (_, name) => (name === changed ? encodeSafely(payload) : 'SOME_KEY')))
}

function queriesWith({ query }: Operation, path: string, payload: string): string[] {
  const [base = ''] = path.split('?')
  return Object.keys(query?.properties ?? {}).map((name) => `${base}?${name}=${encodeSafely(payload)}`)
}

/** Half a surrogate cannot be encoded; it travels as the replacement character. */
const encodeSafely = (text: string): string => encodeURIComponent(text.toWellFormed()) || 'empty'

test('S2: headers that carry payloads are answered without an error of our own', async () => {
  for (const payload of payloads.filter((one) => /^[\t\x20-\x7e]*$/.test(one) && one.length < 5000)) {
    for (const name of [
      'authorization',
      'cookie',
      'origin',
      'x-workspace-id',
      'idempotency-key',
      'x-forwarded-for',
      'accept',
      'x-request-id',
    ]) {
      await send('/v1/auth/me', { headers: { [name]: payload } })
      await send('/v1/services', { json: { type: 'castle' }, headers: { [name]: payload } })
    }
  }
  expectUnharmed()
})

test("S2: payloads as a service's own commands run in its sandbox at most", async () => {
  for (const [field, payload] of [
    ['buildCommand', `touch ${canary}; echo $(touch ${canary})`],
    ['preDeployCommand', `touch ${canary} || true`],
    ['startCommand', `touch ${canary}; exec node server.js`],
  ]) {
    const id = await createService(platform, {
      name: `command ${field}`,
      serviceDetails: { envSpecificDetails: { [field ?? '']: payload } },
    })
    const { status, body } = await upload(platform, id, await packApp('hello-js'))
    expect(`${status} ${JSON.stringify(body)}`).toMatch(/^201 /)
    await deployEnd(platform, id, body.deployId)
  }
  expectUnharmed()
})
