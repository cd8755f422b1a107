import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertSource } from '../../../../server/apps/sources/store.ts'
import { newId } from '../../../../server/platform/id.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

async function withSource(name: string): Promise<string> {
  const serviceId = await createService(server, { name })
  const source = { sha256: '0'.repeat(64), format: 'tar.gz', sizeBytes: 1, fileCount: 1 } as const
  insertSource(server.db, { ...source, id: newId('source'), serviceId, createdAt: Date.now() })
  return serviceId
}

const ask = (serviceId: string, rest = '', method = 'GET') =>
  call<{ url: string }>(`${server.url}/v1/services/${serviceId}/deploy-hook${rest}`, { method, token: server.adminToken })
const hookOf = async (serviceId: string): Promise<string> => server.url + new URL((await ask(serviceId)).body.url).pathname
const rotated = async (serviceId: string): Promise<string> =>
  server.url + new URL((await ask(serviceId, '/rotate', 'POST')).body.url).pathname

interface Row {
  status: string
  trigger: string
}
const deploysOf = (serviceId: string) =>
  server.db.query<Row, [string]>('SELECT status, trigger FROM deploys WHERE service_id = ? ORDER BY id').all(serviceId)

test('whoever has the URL deploys, by POST and by GET, without a credential', async () => {
  const serviceId = await withSource('hooked')
  const hook = await hookOf(serviceId)
  for (const method of ['POST', 'GET']) {
    const { status, body } = await call<{ deploy: { id: string } }>(hook, { method })
    expect({ status, body }).toEqual({ status: 201, body: { deploy: { id: expect.stringMatching(/^dep-/) } } })
  }
  expect(deploysOf(serviceId).map(({ trigger }) => trigger)).toEqual(['deploy_hook', 'deploy_hook'])
})

test('the URL stays the same until it is rotated, and then the one of before is nobody’s', async () => {
  const serviceId = await withSource('rotated')
  const first = await hookOf(serviceId)
  expect(await hookOf(serviceId)).toBe(first)
  const second = await rotated(serviceId)
  expect(second).not.toBe(first)
  expectError(await call(first, { method: 'POST' }), 'not_found')
  expect((await call(second, { method: 'POST' })).status).toBe(201)
})

test('the token stands nowhere in the database, and not in the audit log', async () => {
  const serviceId = await withSource('sealed')
  const hook = await hookOf(serviceId)
  await call(hook, { method: 'POST' })
  const token = hook.slice(hook.lastIndexOf('/') + 1)
  const stored = JSON.stringify([server.db.query('SELECT * FROM deploy_hooks').all(), server.db.query('SELECT * FROM audit_log').all()])
  expect(stored).not.toContain(token)
  const { body } = await call<{ auditLog: { event: string; actor: { type: string }; metadata: object } }[]>(
    `${server.url}/v1/audit-logs?event=deploy.created&limit=1`,
    { token: server.adminToken },
  )
  expect(body[0]?.auditLog).toMatchObject({ metadata: { operation: 'callDeployHook', request: { token: '[hidden]' }, serviceId } })
})

test('a cookie, a key or a page of another site make no difference', async () => {
  const hook = await hookOf(await withSource('bare'))
  const reply = await call(hook, { method: 'POST', token: 'cpk_wrong', headers: { origin: 'https://evil.example' } })
  expect(reply.status).toBe(201)
})

describe('is refused, and nothing is deployed:', () => {
  test('what is no hook, that of a deleted service, and one of no service alike', async () => {
    const gone = await withSource('gone')
    const hook = await hookOf(gone)
    await call(`${server.url}/v1/services/${gone}`, { method: 'DELETE', token: server.adminToken })
    const messages = new Set<string>()
    for (const url of [hook, `${hook}x`, `${server.url}/v1/deploy-hooks/x`])
      messages.add(expectError(await call(url, { method: 'POST' }), 'not_found').message)
    expect(messages.size).toBe(1)
  })

  test('a service without source', async () => {
    const serviceId = await createService(server, { name: 'empty' })
    expect(expectError(await call(await hookOf(serviceId), { method: 'POST' }), 'conflict').message).toContain('no source')
    expect(deploysOf(serviceId)).toEqual([])
  })

  test('images and refs, which there are none of', async () => {
    const serviceId = await withSource('refs')
    const hook = await hookOf(serviceId)
    for (const [query, path] of [
      ['?imageUrl=docker.io/app', '/imageUrl'],
      ['?ref=main', '/ref'],
    ] as const)
      expect(expectError(await call(hook + query, { method: 'POST' }), 'validation_failed').details?.[0]?.path).toBe(path)
    expect(deploysOf(serviceId)).toEqual([])
  })

  test('a HEAD, as of whoever only looks at a link', async () => {
    const serviceId = await withSource('looked-at')
    expect((await fetch(await hookOf(serviceId), { method: 'HEAD' })).status).toBe(400)
    expect(deploysOf(serviceId)).toEqual([])
  })

  test('the eleventh in a minute of one service, and of no other', async () => {
    const [busy, calm] = [await hookOf(await withSource('busy')), await hookOf(await withSource('calm'))]
    for (let index = 0; index < 10; index++) expect((await call(busy, { method: 'POST' })).status).toBe(201)
    const refused = await call(busy, { method: 'POST' })
    expectError(refused, 'rate_limited')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await call(calm, { method: 'POST' })).status).toBe(201)
  })

  test('more than twenty tokens in a minute that are nobody’s', async () => {
    const statuses: number[] = []
    for (let index = 0; index < 25; index++) statuses.push((await call(`${server.url}/v1/deploy-hooks/guess-${index}`)).status)
    expect(statuses.at(-1)).toBe(429)
  })
})
