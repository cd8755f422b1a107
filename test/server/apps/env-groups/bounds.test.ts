import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EnvGroup } from '../../../../shared/env-group.ts'
import { call } from '../../../support/client.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

type Ask = { method?: string; json?: unknown }
const ask = <T>(path: string, options: Ask = {}) => call<T>(`${server.url}/v1${path}`, { token: server.adminToken, ...options })
const makeGroup = async (name: string): Promise<string> => (await ask<EnvGroup>('/env-groups', { json: { name } })).body.id
const makeService = async (name: string, envVars: unknown[] = []): Promise<string> =>
  (await ask<{ service: { id: string } }>('/services', { json: { type: 'web_service', name, envVars } })).body.service.id
const link = (group: string, service: string) => ask<EnvGroup>(`/env-groups/${group}/services/${service}`, { method: 'POST' })

test('a circle through many variables of many services is told in a few lines', async () => {
  const group = await makeGroup('circle')
  const inChain = (_: unknown, at: number) => ({ key: `K${at}`, value: at === 49 ? '${G}' : `\${K${at + 1}}`, interpolate: true })
  for (const name of ['one', 'two']) await link(group, await makeService(name, Array.from({ length: 50 }, inChain)))
  const { status, body } = await ask<{ message: string; details: { path: string }[] }>(`/env-groups/${group}/env-vars/G`, {
    method: 'PUT',
    json: { value: '${K0}', interpolate: true },
  })
  expect(status).toBe(400)
  expect(body.message).toContain('G of one stands in a circle')
  expect(body.details.length).toBe(10)
})

test('linking one service tells of that one alone, whatever else the group is linked to', async () => {
  const group = await makeGroup('shared')
  await ask(`/env-groups/${group}/env-vars/A`, { method: 'PUT', json: { value: 'a' } })
  await link(group, await makeService('first'))
  const second = await makeService('second')
  expect((await link(group, second)).body.touched?.map(({ id }) => id)).toEqual([second])
})
