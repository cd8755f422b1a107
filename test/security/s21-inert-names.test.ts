import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../shared/operations/all.ts'
import { cpctl } from '../cli/terminal.ts'
import { requestOf } from '../conformance/requests.ts'
import { addPerson, addRole, beginSession } from '../support/access.ts'
import { call } from '../support/client.ts'
import { defaultWorkspaceId, makeKey } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

/** Clears the screen, sets the title, turns text around, and is markup. */
const hostile = 'a\u001b[2J\u001b]0;owned\u0007b\u202ec\u009b2Jd<script>alert(1)</script>\r\nSet-Cookie: x=1'
const marks = ['\u001b', '\u0007', '\u202e', '\u009b', '\r']

let server: TestServer
let cookie: string
beforeAll(async () => {
  server = await startTestServer()
  const workspaceId = await defaultWorkspaceId(server)
  const place = { server, workspaceId }
  // Past the API, which takes no such names: what if an older release had?
  const userId = addPerson(place, 'admin')
  cookie = beginSession(server, userId)
  await makeKey(server, 'viewer')
  addRole(place, ['services.read'])
  await call(`${server.url}/v1/services`, { json: { type: 'web_service', name: 'web' }, token: server.adminToken })
  await call(`${server.url}/v1/team-invites`, { json: { email: 'a@example.com', role: 'viewer' }, token: server.adminToken })
  for (const sql of [
    'UPDATE users SET name = ?',
    'UPDATE workspaces SET name = ?',
    'UPDATE api_keys SET name = ?',
    'UPDATE roles SET description = ?',
    'UPDATE services SET name = ?',
    'UPDATE sessions SET client = ?',
  ])
    server.db.query(sql).run(hostile)
})
afterAll(() => server.close())

const commands = [
  ['services', 'list'],
  ['keys', 'list'],
  ['roles', 'list'],
  ['team', 'list'],
  ['invites', 'list'],
  ['audit', 'list'],
  ['workspaces', 'list'],
]

describe.each(commands)('S21: cpctl %s %s', (...argv) => {
  test.each([[], ['--json']])('writes no control sequence to the terminal %s', async (...options) => {
    const env = { CPCTL_URL: server.url, CPCTL_TOKEN: server.adminToken }
    const { exitCode, stdout, stderr } = await cpctl([...argv, ...options], { env, isTty: options.length === 0, columns: 400 })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout.length).toBeGreaterThan(10)
    const plain = stdout.replaceAll(new RegExp(`${marks[0]}\\[\\d+m`, 'g'), '')
    for (const mark of marks) expect({ mark, isThere: plain.includes(mark) }).toEqual({ mark, isThere: false })
  })
})

test('S21: answers that hold markup are JSON that no browser takes for a page, and no header is split', async () => {
  for (const id of operationIds.filter((one) => operationOf(one).method === 'GET' && !operationOf(one).webSocket)) {
    const { path } = requestOf(id)
    const { headers } = await call(server.url + path, { token: server.adminToken, headers: { accept: 'text/html' } })
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('set-cookie') ?? '').not.toContain('x=1')
    if (!operationOf(id).html && headers.get('content-type') !== null) expect(headers.get('content-type')).not.toContain('text/html')
  }
})

test.each(['/account', '/account/sessions', '/account/password', '/account/two-factor', '/status', '/login', '/docs'])(
  'S21: the page %s shows names as text',
  async (path) => {
    const reply = await call<string>(server.url + path, { cookie, headers: { accept: 'text/html' } })
    expect(reply.status).toBeLessThan(400)
    expect(String(reply.body)).not.toContain('<script>alert')
    expect(reply.headers.get('content-security-policy')).not.toMatch(/script-src[^;]*'unsafe/)
  },
)

test('S21: what is shown to people is taken without control characters', async () => {
  const send = (path: string, json: unknown, method = 'POST') => call(`${server.url}/v1${path}`, { method, json, token: server.adminToken })
  for (const name of ['a\u001b[2Jb', 'a\u202eb', 'a\u200bb', 'a\u0000b', 'a\nb']) {
    const replies = [
      await send('/api-keys', { name, role: 'viewer' }),
      await send('/roles', { name, permissions: ['services.read'] }),
      await send('/roles', { name: 'fine', description: name, permissions: ['services.read'] }),
      await send('/services', { type: 'web_service', name }),
      await send('/workspaces', { name }),
      await send('/auth/register', { email: 'x@example.com', password: 'another horse battery', name }),
      await send('/auth/register', { email: 'x@example.com', password: 'another horse battery', workspaceName: name }),
      await send('/auth/register', { email: `${name}@example.com`, password: 'another horse battery' }),
      await send('/team-invites', { email: `x@${name}.example`, role: 'viewer' }),
      await send('/device-grant', { client_id: 'cpctl', client_name: name }),
    ]
    for (const [index, { status }] of replies.entries()) expect({ index, name, status }).toEqual({ index, name, status: 400 })
  }
})
