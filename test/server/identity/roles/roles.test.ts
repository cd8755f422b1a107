import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { idPattern } from '../../../../shared/id.ts'
import { builtInRoles } from '../../../../shared/permission.ts'
import type { Role } from '../../../../shared/role.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { addMember, defaultWorkspaceId, makeKey, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let workspaceId: string
beforeAll(async () => {
  server = await startTestServer()
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

let count = 0
const create = (json: object, token = server.adminToken) => call<Role>(`${server.url}/v1/roles`, { json, token })
const made = async (changes: object = {}) => (await create({ name: `role ${++count}`, permissions: ['services.read'], ...changes })).body
const patch = (id: string, json: object, token = server.adminToken) =>
  call<Role>(`${server.url}/v1/roles/${id}`, { method: 'PATCH', json, token })
const remove = (id: string, token = server.adminToken) => call(`${server.url}/v1/roles/${id}`, { method: 'DELETE', token })
const list = async (query = '', token = server.adminToken) =>
  (await call<{ role: Role; cursor: string }[]>(`${server.url}/v1/roles${query}`, { token })).body
const builtIn = async (name: string) => (await list('?limit=100')).find(({ role }) => role.name === name)?.role.id ?? ''

describe('a role', () => {
  test('is made with a trimmed name and each permission once, in the order of the list', async () => {
    const { status, body } = await create({ name: '  Night shift ', permissions: ['logs.read', 'services.read', 'logs.read'] })
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'Night shift', description: '', permissions: ['services.read', 'logs.read'], builtIn: false })
    expect(body.id).toMatch(new RegExp(idPattern('role')))
  })

  test('is changed in what is named and nothing else', async () => {
    const { id, name, createdAt } = await made({ description: 'before' })
    expect((await patch(id, { description: 'after' })).body).toMatchObject({
      name,
      description: 'after',
      permissions: ['services.read'],
      createdAt,
    })
    expect((await patch(id, { permissions: ['logs.read'] })).body).toMatchObject({ description: 'after', permissions: ['logs.read'] })
    expect((await patch(id, {})).status).toBe(200)
  })

  test('is gone when it was deleted', async () => {
    const { id } = await made()
    expect((await remove(id)).status).toBe(204)
    expectError(await remove(id), 'not_found')
    expectError(await patch(id, { description: 'x' }), 'not_found')
    expect((await list('?limit=100')).map(({ role }) => role.id)).not.toContain(id)
  })

  test('of another workspace is none', async () => {
    const tenant = await registerTenant(server, 'roles-tenant@example.com')
    const { id, name } = await made()
    expectError(await patch(id, { description: 'x' }, tenant.token), 'not_found')
    expectError(await remove(id, tenant.token), 'not_found')
    expect((await list('', tenant.token)).map(({ role }) => role.name)).toEqual(Object.keys(builtInRoles))
    expect((await create({ name, permissions: ['logs.read'] }, tenant.token)).status).toBe(201)
    expectError(
      await call(`${server.url}/v1/api-keys`, { json: { name: 'x', role: 'Night shift' }, token: tenant.token }),
      'validation_failed',
    )
  })
})

describe('the list of roles', () => {
  test('gives every role once over its pages: the own ones, newest first, and then the built-in ones', async () => {
    for (let index = 0; index < 3; index++) await made()
    const all = (await list('?limit=100')).map(({ role }) => role.id)
    const paged: string[] = []
    for (let cursor = ''; ; ) {
      const page = await list(`?limit=2${cursor}`)
      if (page.length === 0) break
      paged.push(...page.map(({ role }) => role.id))
      cursor = `&cursor=${page.at(-1)?.cursor}`
    }
    expect(paged).toEqual(all)
    const roles = (await list('?limit=100')).map(({ role }) => role)
    expect(roles.slice(-4).map(({ name }) => name)).toEqual(Object.keys(builtInRoles))
    expect(roles.slice(0, -4).every(({ builtIn: isBuiltIn }) => !isBuiltIn)).toBe(true)
    expect(roles[0]?.name).toBe(`role ${count}`)
  })
})

describe('what is refused', () => {
  test('an unknown permission, by its name; none at all; text that is no name', async () => {
    const unknown = expectError(await create({ name: 'odd', permissions: ['services.read', 'services.reed'] }), 'validation_failed')
    expect(unknown.details?.[0]).toMatchObject({ path: '/permissions/1', message: expect.stringContaining('"services.reed"') })
    expect(expectError(await create({ name: 'none', permissions: [] }), 'validation_failed').details?.[0]?.path).toBe('/permissions')
    for (const permissions of [['__proto__'], ['constructor'], ['*'], [null], 'services.read', { 0: 'services.read' }])
      expectError(await create({ name: 'odd', permissions }), 'validation_failed')
    for (const name of ['', '   ', '\u00a0', 'a\u0000b', 'a\u202eb', 'zero\u200bwidth', '\u00ad', '\u3164', 'x'.repeat(65), 7, null])
      expectError(await create({ name, permissions: ['logs.read'] }), 'validation_failed')
    expectError(await create({ name: 'more', permissions: ['logs.read'], builtIn: true }), 'validation_failed')
    const { id } = await made()
    expectError(await patch(id, { permissions: [] }), 'validation_failed')
    expectError(await patch(id, { id: 'rol-other' }), 'validation_failed')
  })

  test('a name that is taken, or differs in letter case, width or form only', async () => {
    expect((await create({ name: 'Größe Café', permissions: ['logs.read'] })).status).toBe(201)
    for (const name of ['größe café', 'GRÖSSE CAFÉ', 'Größe  Cafe\u0301', 'Ｇröße Café', ' Größe Café '])
      expect(expectError(await create({ name, permissions: ['logs.read'] }), 'conflict').message).toContain('Größe Café')
    for (const name of ['admin', 'Admin', 'ADMIN', 'ａdmin', ' viewer ', 'Billing', 'ad\u00admin', 'v\u0456ewer', '\u0430dmin', 'adrnin'])
      expect(expectError(await create({ name, permissions: ['logs.read'] }), 'conflict').message).toContain('built-in')
    const { id, name } = await made()
    expectError(await patch(id, { name: 'GRÖßE café' }), 'conflict')
    expectError(await patch(id, { name: 'developer' }), 'conflict')
    expect((await patch(id, { name: name.toUpperCase() })).body.name).toBe(name.toUpperCase())
  })

  test('changes of built-in roles', async () => {
    for (const name of Object.keys(builtInRoles)) {
      const id = await builtIn(name)
      expectError(await patch(id, { description: 'mine' }), 'forbidden')
      expectError(await remove(id), 'forbidden')
    }
  })

  test('the deletion of a role that somebody holds, naming who, until nobody does', async () => {
    const { id, name } = await made()
    const keys = []
    for (let index = 0; index < 5; index++) keys.push(await makeKey(server, name))
    const member = await addMember(server, workspaceId, name)
    server.db
      .query(
        `INSERT INTO invites (id, workspace_id, email, role, token_hash, inviter_type, inviter_id, created_at, expires_at)
         VALUES ('inv-1', ?, 'guest@example.com', ?, 'hash', 'user', 'usr-1', 1, ?)`,
      )
      .run(workspaceId, name, Date.now() + 60_000)
    const { message } = expectError(await remove(id), 'conflict')
    expect(message).toContain(`1 member (${name}), 5 API keys (${name} key, ${name} key, ${name} key, …), and 1 invite (guest@example.com)`)

    server.db.run('UPDATE invites SET expires_at = 1')
    server.db.query('DELETE FROM members WHERE user_id = ?').run(member.userId)
    for (const key of keys.slice(1)) server.db.query('DELETE FROM api_keys WHERE id = ?').run(key.id)
    expect(expectError(await remove(id), 'conflict').message).toContain(`held by 1 API key (${name} key). `)
    server.db.query('UPDATE api_keys SET expires_at = 1 WHERE id = ?').run(keys[0]?.id ?? '')
    expect((await remove(id)).status).toBe(204)
  })
})

describe('nobody hands out what they lack', () => {
  const keyOf = async (permissions: string[]) => {
    const role = await made({ permissions })
    return (await makeKey(server, role.name)).secret
  }

  test('a role is made, changed and removed only by who holds everything in it, before and after', async () => {
    const token = await keyOf(['roles.manage', 'roles.read', 'services.read'])
    const message = expectError(await create({ name: 'big', permissions: ['services.read', 'shell.open'] }, token), 'forbidden').message
    expect(message).toContain('lacks shell.open')
    expect((await create({ name: 'small', permissions: ['services.read'] }, token)).status).toBe(201)
    const above = await made({ permissions: ['services.read', 'shell.open'] })
    expectError(await patch(above.id, { permissions: ['services.read'] }, token), 'forbidden')
    expectError(await patch(above.id, { description: 'mine now' }, token), 'forbidden')
    expectError(await remove(above.id, token), 'forbidden')
    const below = await made({ permissions: ['services.read'] })
    expectError(await patch(below.id, { permissions: ['services.read', 'env.read'] }, token), 'forbidden')
    expect((await patch(below.id, { permissions: ['roles.read'] }, token)).status).toBe(200)
    expect((await remove(below.id, token)).status).toBe(204)
  })

  test('not even their own role can be widened', async () => {
    const role = await made({ permissions: ['roles.manage', 'services.read'] })
    const { secret } = await makeKey(server, role.name)
    expectError(await patch(role.id, { permissions: ['roles.manage', 'services.read', 'env.read'] }, secret), 'forbidden')
    expect((await patch(role.id, { permissions: ['roles.manage'] }, secret)).status).toBe(200)
    expectError(await patch(role.id, { permissions: ['roles.manage', 'services.read'] }, secret), 'forbidden')
  })

  test('roles are changed with roles.manage only, and read with roles.read', async () => {
    const { id } = await made()
    const reader = await keyOf(['roles.read'])
    expect((await list('', reader)).length).toBeGreaterThan(4)
    expect(expectError(await create({ name: 'x', permissions: ['roles.read'] }, reader), 'forbidden').message).toContain('roles.manage')
    expectError(await patch(id, {}, reader), 'forbidden')
    expectError(await remove(id, reader), 'forbidden')
    expectError(await call(`${server.url}/v1/roles`, { token: await keyOf(['services.read']) }), 'forbidden')
  })
})

test('of many who take one name at once, one gets it', async () => {
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) => create({ name: index % 2 === 0 ? 'Contested' : 'CONTESTED', permissions: ['logs.read'] })),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)])
})

test('a role that is deleted while keys of it are made is either held by none or not deleted', async () => {
  for (let round = 0; round < 10; round++) {
    const { id, name } = await made()
    const key = () => call(`${server.url}/v1/api-keys`, { json: { name: 'racing', role: name }, token: server.adminToken })
    const [first, removal, second] = await Promise.all([key(), remove(id), key()])
    const isHeld = [first, second].some(({ status }) => status === 201)
    expect({ round, status: removal.status }).toEqual({ round, status: isHeld ? 409 : 204 })
  }
})

test('a request that is sent again with its key makes one role', async () => {
  const send = () =>
    call<Role>(`${server.url}/v1/roles`, {
      json: { name: 'once', permissions: ['logs.read'] },
      token: server.adminToken,
      headers: { 'idempotency-key': 'role-once' },
    })
  const [first, second] = [await send(), await send()]
  expect([first.status, second.status]).toEqual([201, 201])
  expect(second.body.id).toBe(first.body.id)
})
