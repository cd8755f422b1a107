import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultWorkspaceId, makeKey, registerTenant } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { cpctl } from './terminal.ts'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const run = (token: string, ...argv: string[]) => cpctl(argv, { columns: 200, env: { CPCTL_URL: server.url, CPCTL_TOKEN: token } })

test('the operator sets what a workspace may have, and everybody in it sees how much it has', async () => {
  const tenant = await registerTenant(server, 'tenant@example.com')
  const set = await run(server.adminToken, 'workspaces', 'quota', tenant.workspaceId, '--services', '7', '--disk-gb', '30')
  expect(set).toMatchObject({ exitCode: 0 })
  const { stdout } = await run(tenant.token, 'workspaces', 'show')
  expect(stdout).toMatch(/^services +0 +7 +set for this workspace +Services$/m)
  expect(stdout).toMatch(/^members +1 +100 +Members and open invites$/m)
  await run(server.adminToken, 'workspaces', 'quota', tenant.workspaceId, '--services', 'default')
  expect((await run(tenant.token, 'workspaces', 'show')).stdout).toMatch(/^services +0 +50 /m)
})

test('nobody else sets it, and a limit that is none is refused', async () => {
  const id = await defaultWorkspaceId(server)
  const key = await makeKey(server, 'developer')
  expect((await run(key.secret, 'workspaces', 'quota', id, '--services', '7')).stderr).toContain('workspace.manage')
  expect((await run(server.adminToken, 'workspaces', 'quota', id, '--services', 'many')).stderr).toContain('whole number')
  expect((await run(server.adminToken, 'workspaces', 'quota', id)).stderr).toContain('No quota was given')
})
