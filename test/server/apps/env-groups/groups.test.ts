import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EnvGroup } from '../../../../shared/env-group.ts'
import type { Environment } from '../../../../shared/project.ts'
import { addRole } from '../../../support/access.ts'
import { addEnvironment, putInto } from '../../../support/environments.ts'
import { defaultWorkspaceId, makeKey } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { groupsOn, link, resolvedOf, setOwn } from './group-world.ts'

let server: TestServer
let workspaceId: string
let on: ReturnType<typeof groupsOn>
beforeAll(async () => {
  server = await startTestServer()
  workspaceId = await defaultWorkspaceId(server)
  on = groupsOn(server)
})
afterAll(() => server.close())

let count = 0
const service = (): Promise<TestService> => makeService(server, { name: `web-${++count}` })
const keyWith = async (...permissions: Parameters<typeof addRole>[1][number][]) =>
  (await makeKey(server, addRole({ server, workspaceId }, permissions))).secret

describe('a group', () => {
  test('is made with variables, files and links, and read back', async () => {
    const { id: serviceId, name } = await service()
    const { status, body } = await on.create({
      name: 'whole',
      envVars: [
        { key: 'B', value: '${A}', interpolate: true },
        { key: 'A', generateValue: true },
      ],
      secretFiles: [{ name: 'a.pem', content: 'pem' }],
      serviceIds: [serviceId, serviceId],
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      serviceLinks: [{ id: serviceId, name, type: 'web' }],
      envVars: [
        { key: 'A', value: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) },
        { key: 'B', value: '${A}', interpolate: true },
      ],
      secretFiles: [{ name: 'a.pem', content: 'pem' }],
      touched: [{ id: serviceId, envVars: ['A', 'B'], secretFiles: ['a.pem'] }],
    })
    const { touched: _, ...read } = body
    expect((await on.ask<EnvGroup>(`/v1/env-groups/${body.id}`)).body).toEqual(read)
    const [listed] = (await on.ask<{ envGroup: EnvGroup }[]>('/v1/env-groups?name=whole')).body
    expect(listed?.envGroup).toEqual({ ...read, secretFiles: [{ name: 'a.pem', content: '', hidden: true }] })
  })

  test('keeps nothing in clear', async () => {
    const group = await on.group({ A: 'planted-value' }, { secretFiles: [{ name: 'a.pem', content: 'planted-content' }] })
    const rows = server.db.query<{ row: string }, [string, string]>(
      `SELECT vars_sealed AS row FROM env_groups WHERE id = ? UNION ALL SELECT content_sealed FROM env_group_files WHERE group_id = ?`,
    )
    expect(rows.all(group.id, group.id).map(({ row }) => row)).toEqual([expect.stringMatching(/^v1\./), expect.stringMatching(/^v1\./)])
    expect(server.logged.join()).not.toContain('planted')
  })

  test('loses its links with the services that are deleted, and can go then', async () => {
    const group = await on.group({ A: '1' })
    const one = await service()
    await link(one, group)
    await one.ask('', { method: 'DELETE' })
    expect((await group.ask('')).body.serviceLinks).toEqual([])
    expect((await group.ask('', { method: 'DELETE' })).status).toBe(204)
  })
})

describe('values', () => {
  test('are hidden from who may not see them, in every answer', async () => {
    const group = await on.group({ A: 'secret-value' }, { secretFiles: [{ name: 'a.pem', content: 'secret-content' }] })
    const one = await service()
    await link(one, group)
    const token = await keyWith('services.read', 'env.write')
    const answers = [
      await group.ask('', { token }),
      await group.ask('/env-vars/B', { method: 'PUT', json: { value: 'secret-b' }, token }),
      await group.ask('/env-vars/B?deploy=false', { method: 'DELETE', token }),
      await on.ask(`/v1/env-groups?name=${group.name}`, { token }),
      await one.ask('/env-vars?resolved=true'),
    ]
    for (const { status, body } of answers.slice(0, -1)) {
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain('secret-')
    }
    expect(JSON.stringify(answers.at(-1)?.body)).toContain('secret-value')
    const seen = await on.ask(`/v1/services/${one.id}/env-vars?resolved=true`, { token })
    expect(JSON.stringify(seen.body)).not.toContain('secret-value')
  })

  test('are deployed by nobody who may not deploy', async () => {
    const group = await on.group({ A: '1' })
    const token = await keyWith('services.read', 'env.write')
    const refused = await group.ask('/env-vars/A?deploy=true', { method: 'PUT', json: { value: '2' }, token })
    expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('deploys.create') } })
    expect((await group.ask('')).body.envVars).toEqual([{ key: 'A', value: '1' }])
  })
})

describe('what is refused', () => {
  test('is a name that is taken', async () => {
    const group = await on.group()
    expect(await on.create({ name: group.name })).toMatchObject({ status: 409, body: { message: expect.stringContaining(group.name) } })
    const other = await on.group()
    expect((await other.ask('', { method: 'PATCH', json: { name: group.name } })).status).toBe(409)
    expect((await other.ask('', { method: 'PATCH', json: { name: other.name } })).status).toBe(200)
  })

  test.each([
    ['a key that is no POSIX name', [{ key: 'not-posix', value: 'x' }], '/0/key'],
    ['a value with NUL', [{ key: 'A', value: 'a\u0000b' }], '/0/value'],
    ['a value of 1 MB', [{ key: 'A', value: 'x'.repeat(1_000_000) }], '/0/value'],
    [
      'a key twice',
      [
        { key: 'A', value: '1' },
        { key: 'A', value: '2' },
      ],
      '/1/key',
    ],
    ["the platform's keys", [{ key: 'PORT', value: '3000' }], '/0/key'],
    ["the platform's prefix", [{ key: 'CPD_SERVICE_ID', value: 'x' }], '/0/key'],
    ['no value', [{ key: 'A' }], '/0/key'],
    ['what is no reference', [{ key: 'A', value: '${A:-b}', interpolate: true }], '/0/value'],
  ])('is %s, with its place', async (_, vars, path) => {
    const group = await on.group({ KEPT: '1' })
    const { status, body } = await group.ask('/env-vars', { method: 'PUT', json: vars })
    expect({ status, details: (body as unknown as { details: unknown }).details }).toMatchObject({ status: 400, details: [{ path }] })
    expect((await group.ask('')).body.envVars).toEqual([{ key: 'KEPT', value: '1' }])
  })

  test('is more than a group can hold', async () => {
    const group = await on.group()
    const many = (length: number) => Array.from({ length }, (_, at) => ({ key: `V${at}`, value: '' }))
    expect((await group.ask('/env-vars', { method: 'PUT', json: many(10_000) })).status).toBe(400)
    await group.put('/env-vars', many(1000))
    const more = await group.ask('/env-vars/ONE_MORE', { method: 'PUT', json: { value: '' } })
    expect(more).toMatchObject({ status: 400, body: { message: expect.stringContaining('1001 variables') } })
    const large = [1, 2, 3].map((at) => ({ key: `V${at}`, value: 'x'.repeat(100_000) }))
    expect(await group.ask('/env-vars', { method: 'PUT', json: large })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('300006 characters') },
    })
    const content = 'x'.repeat(500_000)
    for (let at = 0; at < 8; at++) await group.put(`/secret-files/f${at}`, { content })
    expect((await group.ask('/secret-files/f8', { method: 'PUT', json: { content } })).body.message).toContain('4500000 characters')
  })

  test('is a circle, in the group itself or by way of a service', async () => {
    expect(await on.create({ name: 'circle', envVars: [{ key: 'A', value: '${A}', interpolate: true }] })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('A → A') },
    })
    const group = await on.group({ A: '${B}' })
    const one = await service()
    await setOwn(one, { B: '${A}' })
    const linked = await group.ask(`/services/${one.id}`, { method: 'POST' })
    expect(linked).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(`A of ${one.name} stands in a circle: B → A → B`) },
    })
    expect((await group.ask('')).body.serviceLinks).toEqual([])
    await group.put('/env-vars/A', { value: 'a' })
    await link(one, group)
    expect((await group.ask('/env-vars/A', { method: 'PUT', json: { value: '${B}', interpolate: true } })).status).toBe(400)
    expect((await group.ask('')).body.envVars).toEqual([{ key: 'A', value: 'a' }])
  })

  test('is what is not there', async () => {
    const group = await on.group({ A: '1' })
    const one = await service()
    for (const path of ['/env-vars/NONE', '/secret-files/none', `/services/${one.id}`])
      expect((await group.ask(path, { method: 'DELETE' })).status).toBe(404)
    expect((await on.create({ name: 'of nobody', serviceIds: ['srv-00000000000000000000'] })).status).toBe(404)
  })
})

describe('a group of a place', () => {
  test('is linked inside of it only', async () => {
    const { environmentId, projectId } = addEnvironment(server, { workspaceId })
    const beside = addEnvironment(server, { workspaceId, projectId }).environmentId
    const [inside, sibling, outside] = [await service(), await service(), await service()]
    putInto(server, inside.id, environmentId)
    putInto(server, sibling.id, beside)
    const [ofEnvironment, ofProject] = [await on.group({}, { environmentId }), await on.group({}, { projectId })]
    const linked = async (group: typeof ofProject, one: TestService) => (await group.ask(`/services/${one.id}`, { method: 'POST' })).status
    expect([await linked(ofEnvironment, inside), await linked(ofEnvironment, sibling), await linked(ofEnvironment, outside)]).toEqual([
      200, 409, 409,
    ])
    expect([await linked(ofProject, inside), await linked(ofProject, sibling), await linked(ofProject, outside)]).toEqual([200, 200, 409])
    expect((await on.create({ name: 'both', environmentId, projectId })).status).toBe(400)
    const named = async (query: string) =>
      (await on.ask<{ envGroup: EnvGroup }[]>(`/v1/env-groups?${query}`)).body.map(({ envGroup }) => envGroup.name)
    expect(await named(`environmentId=${environmentId}`)).toEqual([ofEnvironment.name])
    expect(await named(`projectId=${projectId}`)).toEqual([ofProject.name, ofEnvironment.name])
    expect((await on.ask<Environment>(`/v1/environments/${environmentId}`)).body.envGroupIds).toEqual([ofEnvironment.id])
  })

  test('is lost by a service that moves away, which is told before', async () => {
    const { environmentId } = addEnvironment(server, { workspaceId })
    const elsewhere = addEnvironment(server, { workspaceId }).environmentId
    const one = await service()
    putInto(server, one.id, environmentId)
    const [group, everywhere] = [await on.group({ A: '1' }, { environmentId }), await on.group({ B: '1' })]
    await link(one, group, everywhere)
    const move = (query = '') =>
      on.ask<{ message: string }>(`/v1/environments/${elsewhere}/resources${query}`, { json: { resourceIds: [one.id] } })
    expect(await move()).toMatchObject({ status: 409, body: { message: expect.stringContaining(`the variables of ${group.name}`) } })
    expect([...(await resolvedOf(one)).keys()]).toContain('A')
    expect((await move('?force=true')).status).toBe(201)
    const keys = [...(await resolvedOf(one)).keys()]
    expect([keys.includes('A'), keys.includes('B')]).toEqual([false, true])
  })

  test('moves with its services as one, and keeps an environment and a project from being deleted', async () => {
    const { environmentId, projectId } = addEnvironment(server, { workspaceId })
    const elsewhere = addEnvironment(server, { workspaceId }).environmentId
    const one = await service()
    putInto(server, one.id, environmentId)
    const group = await on.group({ A: '1' }, { projectId })
    await link(one, group)
    const refused = await on.ask<{ message: string }>(`/v1/projects/${projectId}`, { method: 'DELETE' })
    expect(refused).toMatchObject({ status: 409 })
    const move = (...resourceIds: string[]) => on.ask(`/v1/environments/${elsewhere}/resources`, { json: { resourceIds } })
    expect((await move(group.id)).status).toBe(409)
    expect((await move(group.id, one.id)).status).toBe(201)
    expect((await group.ask('')).body).toMatchObject({ environmentId: elsewhere, serviceLinks: [{ id: one.id }] })
    expect((await group.ask('')).body.projectId).toBeUndefined()
    expect(await on.ask<{ message: string }>(`/v1/environments/${elsewhere}`, { method: 'DELETE' })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(`1 env group (${group.name})`) },
    })
    expect((await on.ask(`/v1/projects/${projectId}`, { method: 'DELETE' })).status).toBe(204)
  })
})

test('who is confined to an environment sees and makes groups there, and nowhere else', async () => {
  const { environmentId, projectId } = addEnvironment(server, { workspaceId })
  const key = await makeKey(server, 'developer')
  const confineTo = (...ids: string[]) => server.db.query('UPDATE api_keys SET scope = ? WHERE id = ?').run(JSON.stringify(ids), key.id)
  confineTo(environmentId)
  const token = key.secret
  const [everywhere, ofProject] = [await on.group({ A: '1' }), await on.group({ A: '1' }, { projectId })]
  const made = await on.create({ name: 'confined' }, token)
  expect(made).toMatchObject({ status: 201, body: { environmentId } })
  const names = async () =>
    (await on.ask<{ envGroup: EnvGroup }[]>('/v1/env-groups?limit=100', { token })).body.map(({ envGroup }) => envGroup.name)
  expect(await names()).toEqual(['confined'])
  for (const group of [everywhere, ofProject]) expect((await group.ask('', { token })).status).toBe(404)
  confineTo(projectId)
  expect(await names()).toEqual(['confined', ofProject.name])
  expect((await ofProject.ask('', { token })).status).toBe(200)
  confineTo((await service()).id)
  expect(await names()).toEqual([])
  expect((await on.create({ name: 'nowhere' }, token)).status).toBe(403)
})

test('the audit log tells which names changed, and no value', async () => {
  const group = await on.group({ A: 'planted-old' })
  await group.put('/env-vars/A', { value: 'planted-new' })
  const { body } = await on.ask<{ auditLog: { event: string; target: string; metadata: unknown } }[]>('/v1/audit-logs?limit=3')
  const entry = body.find(({ auditLog }) => auditLog.event === 'env_group.var_set')?.auditLog
  expect(entry).toMatchObject({ target: group.id })
  expect(JSON.stringify(entry?.metadata)).toContain('envVars')
  expect(JSON.stringify(body)).not.toContain('planted')
})
