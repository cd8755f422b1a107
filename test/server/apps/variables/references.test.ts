import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { refuseUsed } from '../../../../server/apps/references/refuse-used.ts'
import { serviceById } from '../../../../server/apps/services/store.ts'
import { resolvedVariables, secretsForRelease } from '../../../../server/apps/variables/resolved.ts'
import type { ResolvedEnvVar } from '../../../../shared/env.ts'
import type { EnvGroup } from '../../../../shared/env-group.ts'
import { permissionNames } from '../../../../shared/permission.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { addRole } from '../../../support/access.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { addEnvironment, putInto } from '../../../support/environments.ts'
import { defaultWorkspaceId, makeKey, registerTenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let workspaceId: string
let databaseId: string
let storeId: string
let serviceId: string
let name: string
let count = 0

beforeAll(async () => {
  server = await startTestServer()
  workspaceId = await defaultWorkspaceId(server)
})
afterAll(() => server.close())

beforeEach(async () => {
  name = `orders-${++count}`
  databaseId = addDatastore(server, { workspaceId, name })
  storeId = addDatastore(server, { workspaceId, kind: 'key_value', name: `cache-${count}` })
  serviceId = await createService(server, { name: `web-${count}` })
})

const send = (method: string, path: string, json: unknown, token = server.adminToken) =>
  call<ResolvedEnvVar & EnvGroup>(server.url + path, { method, json, token })
const set = (key: string, json: unknown, token?: string) => send('PUT', `/v1/services/${serviceId}/env-vars/${key}`, json, token)
const listed = async (query = '', token = server.adminToken) =>
  (await call<{ envVar: ResolvedEnvVar }[]>(`${server.url}/v1/services/${serviceId}/env-vars${query}`, { token })).body.map(
    ({ envVar }) => envVar,
  )
const service = () => {
  const found = serviceById(server.db, serviceId)
  if (found === undefined) throw new Error('The service is gone')
  return found
}
const values = () => Object.fromEntries(secretsForRelease(server.context, service()).envVars.map(({ key, value }) => [key, value]))
const problems = () => resolvedVariables(server.context, service()).flatMap(({ problem }) => problem ?? [])
const connectionString = () => `postgresql://app_user:password@${databaseId}:5432/app`

describe('a reference', () => {
  test('by name or id is kept as one, and a release gets what it stands for', async () => {
    expect(await set('DATABASE_URL', { fromDatabase: { name, property: 'connectionString' } })).toMatchObject({
      status: 200,
      body: { key: 'DATABASE_URL', value: '', fromDatabase: { id: databaseId, name, property: 'connectionString' } },
    })
    await set('PGPASSWORD', { fromDatabase: { id: databaseId, property: 'password' } })
    await set('REDIS_URL', { fromKeyValue: { name: `cache-${count}`, property: 'connectionString' } })
    await set('REDIS_PORT', { fromService: { type: 'keyvalue', name: `cache-${count}`, property: 'port' } })
    await set('JDBC', { value: 'jdbc:${DATABASE_URL}', interpolate: true })
    expect(values()).toEqual({
      DATABASE_URL: connectionString(),
      PGPASSWORD: 'password',
      REDIS_URL: `redis://${storeId}:password@${storeId}:6379`,
      REDIS_PORT: '6379',
      JDBC: `jdbc:${connectionString()}`,
    })
    server.db.query("UPDATE datastores SET name = 'renamed' || name WHERE id = ?").run(databaseId)
    expect((await listed()).find(({ key }) => key === 'DATABASE_URL')?.fromDatabase?.name).toBe(`renamed${name}`)
  })

  test('is shown as it was set, and what it stands for to who may know that, where it is asked for', async () => {
    await set('DATABASE_URL', { fromDatabase: { name, property: 'connectionString' } })
    expect(await listed()).toMatchObject([{ key: 'DATABASE_URL', value: '' }])
    expect((await listed('?resolved=true')).find(({ key }) => key === 'DATABASE_URL')?.value).toBe(connectionString())
    const without = permissionNames.filter((one) => one !== 'datastores.credentials')
    const { secret } = await makeKey(server, addRole({ server, workspaceId }, without), server.adminToken)
    expect((await listed('?resolved=true', secret)).find(({ key }) => key === 'DATABASE_URL')).toMatchObject({ value: '', hidden: true })
  })

  test('is hidden where it was put into other variables, too', async () => {
    await set('DATABASE_URL', { fromDatabase: { name, property: 'connectionString' } })
    await set('B', { value: 'in ${A}', interpolate: true })
    await set('A', { value: 'jdbc:${DATABASE_URL}', interpolate: true })
    await set('C', { value: 'plain' })
    const without = permissionNames.filter((one) => one !== 'datastores.credentials')
    const { secret } = await makeKey(server, addRole({ server, workspaceId }, without), server.adminToken)
    const shown = await listed('?resolved=true', secret)
    expect(JSON.stringify(shown)).not.toContain('app_user:password')
    expect(shown.find(({ key }) => key === 'B')).toMatchObject({ value: '', hidden: true })
    expect(shown.find(({ key }) => key === 'C')).toMatchObject({ value: 'plain' })
    expect((await listed('?resolved=true')).find(({ key }) => key === 'B')?.value).toBe(`in jdbc:${connectionString()}`)
  })

  test('that was listed can be sent again as it was, and is given up by a value', async () => {
    await set('DATABASE_URL', { fromDatabase: { name, property: 'connectionString' } })
    const again = await listed()
    expect((await send('PUT', `/v1/services/${serviceId}/env-vars`, again)).status).toBe(200)
    expect(await listed()).toEqual(again)
    await set('DATABASE_URL', { value: 'plain' })
    expect(await listed()).toEqual([{ key: 'DATABASE_URL', value: 'plain' }])
  })

  test('of a new service is set with it', async () => {
    serviceId = await createService(server, { name: `new-${count}`, envVars: [{ key: 'A', fromDatabase: { name, property: 'host' } }] })
    expect(values()).toEqual({ A: databaseId })
  })

  test('of a group is told to the services that are linked to it', async () => {
    const { body } = await send('POST', '/v1/env-groups', {
      name: `group-${count}`,
      envVars: [{ key: 'DATABASE_URL', fromDatabase: { name, property: 'connectionString' } }],
      serviceIds: [serviceId],
    })
    expect(body.envVars).toEqual([{ key: 'DATABASE_URL', value: '', fromDatabase: { id: databaseId, name, property: 'connectionString' } }])
    expect(values()).toEqual({ DATABASE_URL: connectionString() })
    const other = await send('PUT', `/v1/env-groups/${body.id}/env-vars/REDIS`, { fromKeyValue: { id: storeId, property: 'host' } })
    expect(other.body.touched).toMatchObject([{ id: serviceId, envVars: ['REDIS'] }])
    expect(() => refuseUsed(server.db, { id: databaseId, name, workspaceId })).toThrow(`the env group group-${count}`)
  })

  test('that cannot be is refused in words', async () => {
    const wrong = async (json: unknown, code: 'validation_failed' | 'not_found') => expectError(await set('A', json), code).message
    expect(await wrong({ fromDatabase: { property: 'host' } }, 'validation_failed')).toContain('by its id or its name')
    expect(await wrong({ fromDatabase: { name: 'nobody', property: 'host' } }, 'not_found')).toContain('nobody')
    expect(await wrong({ fromDatabase: { id: storeId, property: 'host' } }, 'not_found')).toContain('There is no database')
    expect(await wrong({ fromDatabase: { name, property: 'host' }, value: 'x' }, 'validation_failed')).toContain('nothing beside')
    await wrong({ fromDatabase: { name, property: 'host' }, fromKeyValue: { id: storeId, property: 'host' } }, 'validation_failed')
    await wrong({ fromKeyValue: { id: storeId, property: 'database' } }, 'validation_failed')
    await set('POOL', { fromDatabase: { name, property: 'connectionPoolString' } })
    expect(problems()).toEqual([`refers to the database ${name}, which has no connectionPoolString`])
  })
})

describe('who may have it said', () => {
  const roleWithout = async (...left: string[]) =>
    (
      await makeKey(
        server,
        addRole(
          { server, workspaceId },
          permissionNames.filter((one) => !left.includes(one)),
        ),
        server.adminToken,
      )
    ).secret

  test('needs the right to credentials, unless it stands there already', async () => {
    const secret = await roleWithout('datastores.credentials')
    const reference = { fromDatabase: { name, property: 'host' } }
    expect(expectError(await set('A', reference, secret), 'forbidden').message).toContain('datastores.credentials')
    await set('A', reference)
    expect((await set('A', reference, secret)).status).toBe(200)
    expectError(await set('A', { fromDatabase: { name, property: 'password' } }, secret), 'forbidden')
  })

  test('needs the right to protected environments where it leads out of one', async () => {
    const { environmentId } = addEnvironment(server, { workspaceId, isProtected: true })
    putInto(server, databaseId, environmentId)
    const secret = await roleWithout('environments.manage_protected')
    const reference = { fromDatabase: { name, property: 'host' } }
    expect(expectError(await set('A', reference, secret), 'forbidden').message).toContain('environments.manage_protected')
    const envVars = [{ key: 'A', ...reference }]
    expectError(await send('POST', '/v1/env-groups', { name: `group-${count}`, envVars }, secret), 'forbidden')
    const { body } = await send('POST', '/v1/env-groups', { name: `group-${count}`, envVars })
    expectError(await send('POST', `/v1/env-groups/${body.id}/services/${serviceId}`, undefined, secret), 'forbidden')
    putInto(server, serviceId, environmentId)
    expect((await set('A', reference, secret)).status).toBe(200)
  })

  test('is nobody of another workspace, and nobody who is confined elsewhere', async () => {
    const stranger = await registerTenant(server, `stranger-${count}@example.com`)
    const theirs = addDatastore(server, { workspaceId: stranger.workspaceId, name: `theirs-${count}` })
    for (const wanted of [{ id: theirs }, { name: `theirs-${count}` }])
      expectError(await set('A', { fromDatabase: { ...wanted, property: 'host' } }), 'not_found')
    const { id, secret } = await makeKey(server, 'admin', server.adminToken)
    server.db.query('UPDATE api_keys SET scope = ? WHERE id = ?').run(JSON.stringify([serviceId]), id)
    for (const wanted of [{ id: databaseId }, { name }])
      expectError(await set('A', { fromDatabase: { ...wanted, property: 'host' } }, secret), 'not_found')
  })
})

describe('a datastore', () => {
  test('that cannot be reached from the service is refused, and told at the deploy where it was moved since', async () => {
    const { environmentId } = addEnvironment(server, { workspaceId })
    server.db.query('UPDATE environments SET is_isolated = 1 WHERE id = ?').run(environmentId)
    await set('A', { fromDatabase: { name, property: 'host' } })
    putInto(server, databaseId, environmentId)
    expect(problems()).toEqual([`refers to the database ${name}, which cannot be reached from its environment`])
    expect(expectError(await set('B', { fromDatabase: { name, property: 'host' } }), 'validation_failed').message).toContain('isolated')
    putInto(server, serviceId, environmentId)
    expect(values()).toEqual({ A: databaseId })
  })

  test('that is gone is told at the deploy', async () => {
    await set('A', { fromDatabase: { name, property: 'host' } })
    expect(() => refuseUsed(server.db, { id: databaseId, name, workspaceId })).toThrow(`web-${count} (A)`)
    server.db.query('DELETE FROM datastores WHERE id = ?').run(databaseId)
    expect(problems()).toEqual([`refers to the database ${databaseId}, which is gone`])
    expect((await listed())[0]?.fromDatabase).toEqual({ id: databaseId, property: 'host' })
    await set('A', { value: 'x' })
    expect(() => refuseUsed(server.db, { id: databaseId, name, workspaceId })).not.toThrow()
  })
})
