import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newKeySecret } from '../../server/identity/api-keys/secret.ts'
import { type CallOptions, call } from '../support/client.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { expectConventions, expectError } from './expect-error.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const api = (path: string, options: CallOptions = {}) => call(server.url + path, { token: server.adminToken, ...options })
const createKey = (options: CallOptions) => api('/v1/api-keys', { method: 'POST', ...options })
const json = { 'content-type': 'application/json' }

describe('the error body is the same', () => {
  test('for paths and methods that do not exist', async () => {
    for (const path of ['/v1', '/v1/nothing', '/v1/services/a/b/c', '/favicon.ico']) expectError(await api(path), 'not_found')
    for (const method of ['PUT', 'OPTIONS']) expectError(await api('/v1/services', { method }), 'method_not_allowed')
  })

  test('for a path that is not valid percent-encoding', async () => {
    const reply = await new Promise<string>((resolve, reject) => {
      const { port } = new URL(server.url)
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(`GET /v1/services/%zz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.adminToken}\r\nConnection: close\r\n\r\n`)
      })
      let text = ''
      socket.on('data', (chunk) => (text += chunk))
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
    expect(reply).toMatch(/^HTTP\/1.1 400 /)
    expect(reply).toContain('"code":"bad_request"')
  })

  test('for ids with characters no id has', async () => {
    for (const id of ['%00', "' OR 1=1 --", '..%2f..', '%F0%9F%92%A9', 'a'.repeat(5000)])
      expectError(await api(`/v1/services/${id}`), 'not_found')
  })

  test('for a body that is no JSON, no UTF-8, or missing', async () => {
    expectError(await createKey({ raw: '{"name":', headers: json }), 'bad_request')
    expectError(await createKey({ raw: new Uint8Array([0x22, 0xff, 0x22]), headers: json }), 'bad_request')
    expectError(await createKey({ raw: '', headers: json }), 'bad_request')
    expectError(await createKey({}), 'bad_request')
  })

  test('for a body of another content type', async () => {
    expectError(
      await createKey({ raw: 'name=a', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      'unsupported_media_type',
    )
    expectError(await createKey({ raw: '{"name":"a"}', headers: { 'content-type': 'text/plain' } }), 'unsupported_media_type')
    expectError(
      await createKey({ raw: '{"name":"a"}', headers: { 'content-type': 'application/json; charset=latin1' } }),
      'unsupported_media_type',
    )
    expect((await createKey({ raw: '{"name":"a"}', headers: { 'content-type': 'application/json; charset=UTF-8' } })).status).toBe(201)
  })

  test('for a body that is too large, whether it says so or not', async () => {
    const large = JSON.stringify({ name: 'a'.repeat(1024 * 1024) })
    expectError(await createKey({ raw: large, headers: json }), 'payload_too_large')
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(large))
        controller.close()
      },
    })
    expectError(await createKey({ raw: stream, headers: json }), 'payload_too_large')
  })

  test('for JSON nested without end, and not for brackets inside strings', async () => {
    expectError(await createKey({ raw: '['.repeat(500_000), headers: json }), 'bad_request')
    expectError(await createKey({ raw: `{"name":${'{"a":'.repeat(65)}1${'}'.repeat(65)}}`, headers: json }), 'bad_request')
    expect((await createKey({ json: { name: `${'[{'.repeat(40)}\\"` } })).status).toBe(201)
  })
})

describe('a value that is not acceptable is named by its JSON pointer', () => {
  test('in a body', async () => {
    const reply = await api('/v1/services', {
      json: { type: 'web_service', name: 'a', serviceDetails: { numInstances: 0, plan: 'huge' }, constructor: 1, 'a/b~c': 1 },
    })
    const { details = [], message } = expectError(reply, 'validation_failed')
    expect(details.map(({ path }) => path).sort()).toEqual([
      '/a~1b~0c',
      '/constructor',
      '/serviceDetails/numInstances',
      '/serviceDetails/plan',
    ])
    expect(message).toContain('see details')
  })

  test('as unknown, with its name in the message', async () => {
    const { message } = expectError(await createKey({ json: { name: 'a', colour: 'red' } }), 'validation_failed')
    expect(message).toContain('/colour')
    expectError(await createKey({ raw: '{"name":"a","__proto__":{"role":"admin"}}', headers: json }), 'validation_failed')
  })

  test('as known but not supported, unless it is neutral', async () => {
    const create = (extra: object) => api('/v1/services', { json: { type: 'web_service', name: 'unsupported', ...extra } })
    const { details } = expectError(await create({ image: { imagePath: 'nginx' } }), 'validation_failed')
    expect(details?.[0]?.path).toBe('/image')
    expect((await create({ environmentId: '', image: {} })).status).toBe(201)
  })

  test('in a query', async () => {
    const { details } = expectError(await api('/v1/services?limit=many'), 'validation_failed')
    expect(details?.[0]?.path).toBe('/limit')
    expectError(await api('/v1/services?limit=0'), 'validation_failed')
    expectError(await api('/v1/services?limit=1&limit=2'), 'validation_failed')
    expectError(await api('/v1/services?type=castle'), 'validation_failed')
    expectError(await api('/v1/services?cursor=nonsense'), 'validation_failed')
  })
})

test('arrays in a query are taken comma-joined and repeated, and a large limit is clamped', async () => {
  for (const name of ['joined-a', 'joined-b']) await api('/v1/services', { json: { type: 'web_service', name } })
  const names = async (query: string) => {
    const reply = await call<{ service: { name: string } }[]>(`${server.url}/v1/services?${query}`, { token: server.adminToken })
    return reply.body.map(({ service }) => service.name).sort()
  }
  expect(await names('name=joined-a,joined-b')).toEqual(['joined-a', 'joined-b'])
  expect(await names('name=joined-a&name=joined-b')).toEqual(['joined-a', 'joined-b'])
  expect((await api('/v1/services?limit=100000')).status).toBe(200)
})

test('a list gives everything once, page by page, until it is empty', async () => {
  const seen: string[] = []
  let cursor = ''
  for (;;) {
    const path = `/v1/roles?limit=3${cursor}`
    const page = await call<{ role: { name: string }; cursor: string }[]>(server.url + path, { token: server.adminToken })
    if (page.body.length === 0) break
    seen.push(...page.body.map(({ role }) => role.name))
    cursor = `&cursor=${page.body.at(-1)?.cursor}`
  }
  expect(seen).toEqual(['admin', 'developer', 'viewer', 'billing'])
})

test('JSON answers say their type, empty ones carry neither body nor type', async () => {
  const me = await api('/v1/auth/me')
  expect(me.headers.get('content-type')).toBe('application/json; charset=utf-8')
  const created = await call<{ id: string }>(`${server.url}/v1/api-keys`, { json: { name: 'brief' }, token: server.adminToken })
  const gone = await api(`/v1/api-keys/${created.body.id}`, { method: 'DELETE' })
  expect(gone.status).toBe(204)
  expectConventions(gone)
})

test('an unexpected error is logged with its cause and shown as internal', async () => {
  const other = await startTestServer()
  other.db.run('DROP TABLE api_keys')
  const body = expectError(await call(`${other.url}/v1/auth/me`, { token: newKeySecret() }), 'internal')
  expect(body.message).toContain(body.id)
  expect(other.logged.join('')).toContain('no such table: api_keys')
  await other.close()
})
