import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectError } from '../../../conformance/expect-error.ts'
import { call, cookieOf } from '../../../support/client.ts'
import { makeKey } from '../../../support/members.ts'
import { startTestServer, type TestServer, testAdmin } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const create = (key: string, name: string, token = server.adminToken) =>
  call<{ id: string; secret: string }>(`${server.url}/v1/api-keys`, { json: { name }, token, headers: { 'idempotency-key': key } })

test('the same key and body get the first answer again, and nothing is made twice', async () => {
  const first = await create('one', 'repeated')
  const second = await create('one', 'repeated')
  expect(first.status).toBe(201)
  expect(second.status).toBe(201)
  expect(second.body).toEqual(first.body)
  expect(first.headers.get('idempotent-replayed')).toBeNull()
  expect(second.headers.get('idempotent-replayed')).toBe('true')
  const list = await call<{ name: string }[]>(`${server.url}/v1/api-keys`, { token: server.adminToken })
  expect(list.body.filter(({ name }) => name === 'repeated')).toHaveLength(1)
})

test('the same key with another body is a conflict', async () => {
  await create('two', 'first')
  expectError(await create('two', 'second'), 'conflict')
})

test('the same key of another caller is another key', async () => {
  const other = (await makeKey(server, 'admin')).secret
  const mine = await create('three', 'same')
  const theirs = await create('three', 'same', other)
  expect(theirs.status).toBe(201)
  expect(theirs.body.id).not.toBe(mine.body.id)
})

test('the operator and the account that was seeded are two callers, though the token acts under its id', async () => {
  const cookie = cookieOf(await call(`${server.url}/v1/auth/login`, { json: testAdmin }))
  const mine = await create('operator', 'same')
  const headers = { 'idempotency-key': 'operator', origin: server.url }
  const theirs = await call<{ id: string }>(`${server.url}/v1/api-keys`, { json: { name: 'same' }, cookie, headers })
  expect(theirs.status).toBe(201)
  expect(theirs.body.id).not.toBe(mine.body.id)
})

test('a failed request leaves its key free', async () => {
  expectError(await create('four', ''), 'validation_failed')
  expect((await create('four', 'now right')).status).toBe(201)
})

test('of many at once only one is done', async () => {
  const replies = await Promise.all(Array.from({ length: 8 }, () => create('five', 'parallel')))
  const ids = new Set(replies.filter(({ status }) => status === 201).map(({ body }) => body.id))
  expect(ids.size).toBe(1)
  expect(replies.every(({ status }) => status === 201 || status === 409)).toBe(true)
})

test('a key is forgotten after a day', async () => {
  const first = await create('six', 'daily')
  server.db.query('UPDATE idempotency_keys SET created_at = created_at - ?').run(24 * 3600 * 1000)
  const second = await create('six', 'daily')
  expect(second.body.id).not.toBe(first.body.id)
})

test('a key that is no visible text is refused', async () => {
  expectError(await create('a b', 'spaced'), 'bad_request')
  expectError(await create('x'.repeat(256), 'long'), 'bad_request')
})

test('answers are kept sealed', async () => {
  const { body } = await create('seven', 'sealed')
  expect(JSON.stringify(server.db.query('SELECT * FROM idempotency_keys').all())).not.toContain(body.secret)
})
