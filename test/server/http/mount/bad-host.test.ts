import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { makeKey } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
afterEach(() => server.close())

/** No client library sends this. The head and body of the answer are given. */
function ask(host: string, secret: string): Promise<string> {
  const { hostname, port } = new URL(server.url)
  const answered = Promise.withResolvers<string>()
  let text = ''
  const socket = connect(Number(port), hostname, () =>
    socket.write(
      `POST /v1/team-invites HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${secret}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    ),
  )
  socket.on('data', (bytes) => {
    text += bytes.toString()
  })
  socket.on('close', () => answered.resolve(text))
  socket.on('error', answered.reject)
  return answered.promise
}

test('a host that is none is refused, and hides no attempt from the audit log', async () => {
  server = await startTestServer()
  const { secret } = await makeKey(server, 'viewer')
  const denied = () => server.db.query("SELECT 1 FROM audit_log WHERE event = 'access.denied'").all().length
  expect(await ask('a.example', secret)).toMatch(/^HTTP\/1.1 403 /)
  expect(denied()).toBe(1)
  for (const host of ['"><x', 'a b', '[::']) {
    const answer = await ask(host, secret)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('The Host header names no host')
  }
})
