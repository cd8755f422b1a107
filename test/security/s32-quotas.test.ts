import { afterEach, describe, expect, test } from 'vitest'
import type { Quota, QuotaName } from '../../shared/quota.ts'
import { expectError } from '../conformance/expect-error.ts'
import { type CallOptions, call, type Reply } from '../support/client.ts'
import { addDatastore } from '../support/datastores.ts'
import { addMember, defaultWorkspaceId, makeKey, registerTenant, type Tenant } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

let server: TestServer
let tenant: Tenant
afterEach(() => server.close())

async function start(quotas: string): Promise<void> {
  server = await startTestServer({ env: { CP_QUOTAS: quotas } })
  tenant = await registerTenant(server, 'greedy@example.com')
}

const ask = <T = Record<string, unknown>>(path: string, options: CallOptions = {}): Promise<Reply<T>> =>
  call<T>(`${server.url}/v1${path}`, { token: tenant.token, ...options })
let count = 0
const create = (json: Record<string, unknown> = {}, options: CallOptions = {}) =>
  ask<{ service: { id: string } }>('/services', { json: { type: 'web_service', name: `service-${++count}`, ...json }, ...options })
const statuses = async (asked: Promise<Reply<unknown>>[]) => (await Promise.all(asked)).map(({ status }) => status).sort()
const times = (n: number, act: () => Promise<Reply<unknown>>) => statuses(Array.from({ length: n }, act))
const quotas = async (): Promise<Map<QuotaName, Quota>> =>
  new Map((await ask<Quota[]>(`/workspaces/${tenant.workspaceId}/quotas`)).body.map((quota) => [quota.name, quota]))
const setQuotas = (json: Record<string, unknown>, options: CallOptions = {}) =>
  call(`${server.url}/v1/quotas/${tenant.workspaceId}`, { method: 'PATCH', json, token: server.adminToken, ...options })

describe('S32: of what a workspace may have, fifty at once get no more', () => {
  test('services, and the refusal tells the quota, what is used, and who can raise it', async () => {
    await start('services=5')
    expect(await times(50, () => create())).toEqual([...Array(5).fill(201), ...Array(45).fill(409)])
    const { message } = expectError(await create(), 'conflict')
    expect(message).toContain('"services" of this workspace is 5, of which it has 5')
    expect(message).toContain(`cpctl workspaces quota ${tenant.workspaceId} --services 6`)
    expect((await quotas()).get('services')).toMatchObject({ used: 5, limit: 5, isDefault: true })
  })

  test('instances, by whatever way they are asked for', async () => {
    await start('instances=6')
    const services = await Promise.all([create(), create()])
    const [one = '', other = ''] = services.map(({ body }) => body.service.id)
    const scaled = Array.from({ length: 50 }, (_, index) =>
      ask(`/services/${index % 2 === 0 ? one : other}/scale`, { json: { numInstances: 4 } }),
    )
    // The second 4 of each service changes nothing, so it is allowed to whom the first was.
    expect(new Set(await statuses(scaled))).toEqual(new Set([202, 409]))
    expect((await quotas()).get('instances')).toMatchObject({ used: 5, limit: 6 })
    // Which of the two came first is chance.
    const { body } = await ask<{ serviceDetails: { numInstances: number } }>(`/services/${other}`)
    const small = body.serviceDetails.numInstances === 1 ? other : one
    expectError(await ask(`/services/${small}`, { method: 'PATCH', json: { serviceDetails: { numInstances: 3 } } }), 'conflict')
    expectError(await create({ serviceDetails: { numInstances: 2 } }), 'conflict')
    expect((await create()).status).toBe(201)
    expect((await create({ type: 'static_site' })).status).toBe(201)
  })

  test('promised cores and memory', async () => {
    await start('cores=3,memoryGb=5')
    const large = { serviceDetails: { plan: 'standard' } }
    expect(await times(50, () => create(large))).toEqual([201, 201, ...Array(48).fill(409)])
    expectError(await create({ serviceDetails: { plan: 'pro' } }), 'conflict')
    expect((await quotas()).get('cores')).toMatchObject({ used: 2, limit: 3 })
    expect((await quotas()).get('memoryGb')).toMatchObject({ used: 4, limit: 5 })
  })

  test('disks and what they hold', async () => {
    await start('disks=2,diskGb=25')
    const withDisk = () =>
      create({ type: 'private_service', serviceDetails: { disk: { name: 'data', mountPath: '/var/data', sizeGB: 10 } } })
    expect(await times(50, withDisk)).toEqual([201, 201, ...Array(48).fill(409)])
    expect((await quotas()).get('diskGb')).toMatchObject({ used: 20, limit: 25 })
    expect((await quotas()).get('services')?.used).toBe(2)
  })

  test('databases and key-value stores, with what they promise', async () => {
    await start('datastores=3,memoryGb=2,diskGb=6')
    const { workspaceId } = tenant
    const id = addDatastore(server, { workspaceId, kind: 'key_value', isSuspended: true })
    const make = (json: Record<string, unknown> = {}) => ask('/key-value', { json: { name: `store-${++count}`, plan: 'free', ...json } })
    expect(await times(50, make)).toEqual([201, 201, ...Array(48).fill(409)])
    expect((await quotas()).get('datastores')).toMatchObject({ used: 3, limit: 3 })
    expect((await quotas()).get('diskGb')).toMatchObject({ used: 3, limit: 6 })
    expect((await quotas()).get('memoryGb')?.used).toBeCloseTo((3 * 64) / 1024)
    server.db.query("UPDATE datastores SET plan = 'standard' WHERE id <> ?").run(id)
    const { message } = expectError(await ask(`/key-value/${id}`, { method: 'PATCH', json: { plan: 'starter' } }), 'conflict')
    expect(message).toContain('"memoryGb" of this workspace is 2')
    const before = (await quotas()).get('memoryGb')?.used
    server.db
      .query("UPDATE datastores SET role = 'standby', primary_id = (SELECT max(id) FROM datastores WHERE id <> $id) WHERE id = $id")
      .run({ id })
    expect([(await quotas()).get('datastores')?.used, (await quotas()).get('memoryGb')?.used]).toEqual([2, before])
  })

  test('invites and members', async () => {
    await start('members=4')
    const invite = () => ask('/team-invites', { json: { email: `${crypto.randomUUID()}@example.com`, role: 'viewer' } })
    expect(await times(50, invite)).toEqual([...Array(3).fill(201), ...Array(47).fill(409)])
  })

  test('workspaces of one person', async () => {
    await start('workspaces=3')
    const cookie = { cookie: tenant.cookie, token: undefined, headers: { origin: server.url } } as unknown as CallOptions
    expect(await times(50, () => ask('/workspaces', { json: { name: 'One more' }, ...cookie }))).toEqual([201, 201, ...Array(48).fill(409)])
  })
})

describe('S32: quotas are set', () => {
  test('by the operator alone, for one workspace, and what was there beyond them stays', async () => {
    await start('services=2')
    await times(2, () => create())
    expectError(await setQuotas({ services: 9 }, { token: tenant.token }), 'forbidden')
    const viewer = await makeKey(server, 'viewer')
    expectError(await setQuotas({ services: 9 }, { token: viewer.secret }), 'forbidden')
    expect((await setQuotas({ services: 3 })).status).toBe(200)
    expect(await times(5, () => create())).toEqual([201, 409, 409, 409, 409])
    await setQuotas({ services: 1 })
    expectError(await create(), 'conflict')
    expect((await quotas()).get('services')).toMatchObject({ used: 3, limit: 1, isDefault: false })
    await setQuotas({ services: null })
    expect((await quotas()).get('services')).toMatchObject({ limit: 2, isDefault: true })
    expectError(
      await call(`${server.url}/v1/quotas/tea-00000000000000000000`, { method: 'PATCH', json: {}, token: server.adminToken }),
      'not_found',
    )
  })

  test('which both logs tell', async () => {
    await start('services=2')
    const operator = await addMember(server, await defaultWorkspaceId(server), 'admin')
    expect(
      (await setQuotas({ services: 3 }, { token: undefined, cookie: operator.cookie, headers: { origin: server.url } } as never)).status,
    ).toBe(200)
    const told = server.db.query("SELECT workspace_id FROM audit_log WHERE event = 'workspace.quotas_set'").all()
    expect(told).toHaveLength(2)
  })

  test('by default for every workspace but that of the first start', async () => {
    await start('')
    expect([...(await quotas()).values()].every(({ limit }) => limit !== null)).toBe(true)
    const operators = await call<Quota[]>(`${server.url}/v1/workspaces/${await defaultWorkspaceId(server)}/quotas`, {
      token: server.adminToken,
    })
    expect(operators.body.every(({ limit }) => limit === null)).toBe(true)
  })
})
