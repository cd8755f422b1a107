import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../shared/operations/all.ts'
import { requestOf } from '../conformance/requests.ts'
import { createService } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { defaultWorkspaceId } from '../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../support/server.ts'

let server: TestServer
let serviceId: string
beforeAll(async () => {
  server = await startTestServer({ env: { CP_PUBLIC_URL: 'https://panel.example.com', CP_BASE_DOMAIN: 'apps.example.com' } })
  serviceId = await createService(server, { name: 'linked' })
})
afterAll(() => server.close())

const forged = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'gopher',
  'x-forwarded-for': '203.0.113.7',
  forwarded: 'for=203.0.113.7;host=evil.example;proto=gopher',
  'x-original-url': '//evil.example/',
}

test('S15: links use the public URL and the base domain', async () => {
  const { body } = await call(`${server.url}/v1/services/${serviceId}`, { token: server.adminToken, headers: forged })
  expect(body).toMatchObject({
    dashboardUrl: expect.stringMatching(/^https:\/\/panel\.example\.com\//),
    serviceDetails: { url: expect.stringMatching(/^http:\/\/linked\.apps\.example\.com/) },
  })
})

test('S15: a forged Host or forwarded header appears in no answer, header or page', async () => {
  const ids = { serviceId, ownerId: await defaultWorkspaceId(server) }
  const answers: string[] = []
  for (const id of operationIds.filter((one) => operationOf(one).method === 'GET' && !operationOf(one).webSocket)) {
    const reply = await call(server.url + requestOf(id, ids).path, { token: server.adminToken, headers: forged })
    answers.push(JSON.stringify([reply.body, ...reply.headers]))
  }
  for (const path of ['/docs', '/docs/json', '/docs/start.js', '/status', '/nothing', '/v1/services/']) {
    const reply = await call(server.url + path, { headers: { ...forged, accept: 'text/html' } })
    answers.push(JSON.stringify([reply.body, ...reply.headers]))
  }
  const login = await call(`${server.url}/v1/auth/login`, { json: testAdmin, headers: forged })
  expect(login.status).toBe(200)
  answers.push(JSON.stringify([login.body, ...login.headers]))
  expect(answers.filter((answer) => /evil\.example|gopher|203\.0\.113\.7/.test(answer))).toEqual([])
})

test("S15: a forged Host does not make a stranger's page our own", async () => {
  const login = await call(`${server.url}/v1/auth/login`, {
    json: testAdmin,
    headers: { host: 'evil.example', origin: 'https://evil.example' },
  })
  expect(login.status).toBe(403)
})
