import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EnvGroup } from '../../../../shared/env-group.ts'
import { createService } from '../../../support/apps.ts'
import { makeKey } from '../../../support/members.ts'
import { asker, makeEnvironment } from '../../../support/projects.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const secret = 'told-to-nobody'
const refused = { status: 403, body: { message: expect.stringContaining('environments.manage_protected') } }

let server: TestServer
let ask: ReturnType<typeof asker>
let developer: string
let production: string
let staging: string
beforeAll(async () => {
  server = await startTestServer()
  ask = asker(server)
  developer = (await makeKey(server, 'developer')).secret
  production = await makeEnvironment(server, { protectedStatus: 'protected' })
  staging = await makeEnvironment(server)
})
afterAll(() => server.close())

let count = 0
const newService = (environmentId: string) => createService(server, { name: `svc-${++count}`, environmentId })

/** A group of no environment with secrets, and the service in production that uses it. */
async function usedInProduction(): Promise<{ group: string; service: string }> {
  const service = await newService(production)
  const json = {
    name: `group-${++count}`,
    envVars: [{ key: 'SECRET', value: secret }],
    secretFiles: [{ name: 'a.pem', content: secret }],
    serviceIds: [service],
  }
  return { group: `/env-groups/${(await ask<EnvGroup>('/env-groups', { json })).body.id}`, service }
}

test('a group that is used in a protected environment shows its values to holders of the right alone, wherever it is', async () => {
  const { group } = await usedInProduction()
  const ways = [
    { path: group },
    { path: '/env-groups?limit=100' },
    { path: group, method: 'PATCH', json: { name: `renamed-${++count}` } },
    { path: `${group}/env-vars/OTHER`, method: 'PUT', json: { value: 'x' } },
    { path: `${group}/env-vars/OTHER?deploy=false`, method: 'DELETE' },
  ]
  for (const { path, ...options } of ways) {
    const { status, body } = await ask(path, { ...options, token: developer })
    expect({ status, shown: JSON.stringify(body).includes(secret) }).toEqual({ status: 200, shown: false })
  }
  expect(JSON.stringify((await ask(group)).body)).toContain(secret)
})

test('such a group is not deleted, taken away, moved from its service or opened to others without the right', async () => {
  const { group, service } = await usedInProduction()
  const open = await newService(staging)
  const resourceIds = [group.replace('/env-groups/', '')]
  const ways = [
    { path: `${group}?force=true`, method: 'DELETE' },
    { path: `${group}/services/${service}`, method: 'DELETE' },
    { path: `${group}/services/${open}`, method: 'POST' },
    { path: `/environments/${staging}/resources?force=true`, json: { resourceIds } },
  ]
  for (const { path, ...options } of ways) expect(await ask(path, { ...options, token: developer })).toMatchObject(refused)
  expect(JSON.stringify((await ask(`/services/${service}/env-vars?resolved=true`)).body)).toContain(secret)
  expect((await ask(`${group}/services/${await newService(production)}`, { method: 'POST', token: developer })).status).toBe(200)
  for (const { path, ...options } of ways.slice(0, 2).reverse()) expect((await ask(path, options)).status).toBeLessThan(300)
})

test('a group that is used elsewhere alone is nobody’s secret', async () => {
  const json = { name: 'open', envVars: [{ key: 'A', value: 'shown' }], serviceIds: [await newService(staging)] }
  const { id } = (await ask<EnvGroup>('/env-groups', { json, token: developer })).body
  expect(JSON.stringify((await ask(`/env-groups/${id}`, { token: developer })).body)).toContain('shown')
  expect((await ask(`/env-groups/${id}?force=true`, { method: 'DELETE', token: developer })).status).toBe(204)
})
