import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectError } from '../conformance/expect-error.ts'
import { call, cookieOf } from '../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey, registerTenant, type Tenant } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { testAdmin } from '../support/server.ts'
import { makeService, type TestService } from '../support/service.ts'
import { openShell, pidsWith, shellUrl } from '../support/shell.ts'
import { upgradeHeaders } from '../support/socket.ts'
import { until } from '../support/until.ts'

let platform: Platform
let service: TestService
let stranger: Tenant
let marker: string
const POLICY_VIOLATION = 1008

beforeAll(async () => {
  platform = await startPlatform()
  stranger = await registerTenant(platform, 'shell-stranger@example.com')
  service = await makeService(platform, { name: 'guarded' })
  await service.goLive('hello-js')
  marker = `${800_000 + Math.floor(Math.random() * 90_000)}`
})
afterAll(() => platform.close())

const shake = (headers: Record<string, string>, query = {}) =>
  call(shellUrl(platform, service.id, { command: `sleep ${marker}`, ...query }), { headers: { ...upgradeHeaders, ...headers } })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const sessionCookie = async () => cookieOf(await call(`${platform.url}/v1/auth/login`, { json: testAdmin }))

describe('S10: a shell is refused before anything is started', () => {
  test('without a credential, with a bad one, and with a revoked key', async () => {
    const key = await makeKey(platform, 'developer')
    await call(`${platform.url}/v1/api-keys/${key.id}`, { method: 'DELETE', token: platform.adminToken })
    for (const headers of [{}, bearer('cpk_wrong'), bearer(key.secret), { cookie: 'cpd_session=wrong', origin: platform.url }])
      expectError(await shake(headers), 'unauthorized')
  })

  test('with a session from another site, or from nowhere, or that has expired', async () => {
    const cookie = await sessionCookie()
    expectError(await shake({ cookie, origin: 'https://evil.example' }), 'forbidden')
    expectError(await shake({ cookie }), 'forbidden')
    platform.db.query('UPDATE sessions SET expires_at = 1').run()
    expectError(await shake({ cookie, origin: platform.url }), 'unauthorized')
  })

  test('with a role that may look and not touch', async () => {
    for (const role of ['viewer', 'billing']) expectError(await shake(bearer((await makeKey(platform, role)).secret)), 'forbidden')
  })

  test("for another tenant's service or instance", async () => {
    expectError(await shake(bearer(stranger.token)), 'not_found')
    const [instance] = await service.instances()
    const own = await call<{ service: { id: string } }>(`${platform.url}/v1/services`, {
      json: { type: 'web_service', name: 'theirs' },
      token: stranger.token,
    })
    const url = shellUrl(platform, own.body.service.id, { instance: instance?.id ?? '' })
    expectError(await call(url, { headers: { ...upgradeHeaders, ...bearer(stranger.token) } }), 'not_found')
  })

  test('and nothing has been started or written down', async () => {
    expect(pidsWith(marker)).toEqual([])
    expect((await service.events()).filter(({ type }) => type.startsWith('shell_'))).toEqual([])
  })
})

describe('S8: everything of an open shell is gone within 5 s', () => {
  async function opened(headers: Record<string, string>) {
    const shell = await openShell(platform, service.id, { headers, query: { command: `setsid sleep ${marker} & sleep ${marker}` } })
    await until('it runs', () => pidsWith(`sleep ${marker}`).length >= 2)
    return shell
  }
  async function expectEnded(shell: Awaited<ReturnType<typeof openShell>>, since: number): Promise<void> {
    expect(await shell.closed).toMatchObject({ code: POLICY_VIOLATION })
    await until('nothing of it is left', () => pidsWith(marker).length === 0)
    expect(Date.now() - since).toBeLessThan(5000)
  }

  test('of its key being revoked', async () => {
    const key = await makeKey(platform, 'developer')
    const shell = await opened(bearer(key.secret))
    await call(`${platform.url}/v1/api-keys/${key.id}`, { method: 'DELETE', token: platform.adminToken })
    await expectEnded(shell, Date.now())
  })

  test('of its session ending', async () => {
    const cookie = await sessionCookie()
    const shell = await opened({ cookie, origin: platform.url })
    await call(`${platform.url}/v1/auth/logout`, { method: 'POST', cookie, headers: { origin: platform.url } })
    await expectEnded(shell, Date.now())
  })

  test('of its user losing the permission', async () => {
    const member = await addMember(platform, await defaultWorkspaceId(platform), 'developer')
    const shell = await opened({ cookie: member.cookie, origin: platform.url })
    platform.db.query("UPDATE members SET role = 'viewer' WHERE user_id = ?").run(member.userId)
    await expectEnded(shell, Date.now())
  })
})
