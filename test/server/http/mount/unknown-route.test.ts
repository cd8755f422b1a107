import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const ask = (method: string, path: string) => call(server.url + path, { method, token: server.adminToken })

describe('a path without the method', () => {
  test.each([
    ['PUT', '/v1/services', 'GET, HEAD, POST'],
    ['POST', '/v1/services/srv-00000000000000000000', 'DELETE, GET, HEAD, PATCH'],
    ['OPTIONS', '/v1/auth/login', 'POST'],
    ['DELETE', '/api/health', 'GET, HEAD'],
    ['GET', '/v1/disks/dsk-00000000000000000000/snapshots/restore', 'POST'],
  ])('%s %s is a 405 that names those there are', async (method, path, allow) => {
    const reply = await ask(method, path)
    const { message } = expectError(reply, 'method_not_allowed')
    expect(reply.headers.get('allow')).toBe(allow)
    expect(message).toContain(method)
  })
})

test.each(['/v1/nothing', '/v1/services/a/b/c', '/v1', '/v1/services%2f'])('%s is a 404 for every method', async (path) => {
  for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) expectError(await ask(method, path), 'not_found')
})
