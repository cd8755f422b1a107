import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService } from '../../../support/apps.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'

let server: TestServer
let cookie: string
beforeAll(async () => {
  server = await startTestServer()
  cookie = cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin }))
})
afterAll(() => server.close())

const headers = { accept: 'text/html' }
const open = (query: Record<string, string>, as: string | undefined = cookie) =>
  call<string>(`${server.url}/deploys?${new URLSearchParams(query)}`, { headers, ...(as !== '' && { cookie: as }) })

test('a deploy is shown to whoever may see it, with its state', async () => {
  const serviceId = await createService(server, { name: 'web' })
  const { body } = await call<{ id: string }>(`${server.url}/v1/services/${serviceId}/deploys`, { json: {}, token: server.adminToken })
  const shown = await open({ serviceId, deployId: body.id })
  expect(shown.status).toBe(200)
  expect(shown.body).toContain('Waiting')
  expect(shown.body).toContain(body.id)
})

test('one that is not there is told so, and markup in its id is text', async () => {
  const { status, body } = await open({ serviceId: 'srv-00000000000000000000', deployId: '<script>' })
  expect(status).toBe(404)
  expect(body).not.toContain('<script>')
})

test('who is not logged in logs in first, and comes back', async () => {
  const { url } = await fetch(`${server.url}/deploys?serviceId=srv-1&deployId=dep-1`, { headers })
  expect(new URL(url).searchParams.get('returnTo')).toBe('/deploys?serviceId=srv-1&deployId=dep-1')
})
