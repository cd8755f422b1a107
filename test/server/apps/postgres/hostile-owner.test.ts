import { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { datastoreById } from '../../../../server/apps/datastores/store.ts'
import { alignUsersQuietly } from '../../../../server/apps/postgres/credentials/align.ts'
import { initialise } from '../../../../server/apps/postgres/initialise.ts'
import { postgresServer } from '../../../../server/apps/postgres/server.ts'
import { ownOf } from '../../../../server/apps/postgres/session.ts'
import type { NewPostgresCredential } from '../../../../shared/postgres-credentials.ts'
import { call } from '../../../support/client.ts'
import { addLiveDatabase, tenant } from '../../../support/live-database.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type PostgresServer, startPostgresServer } from '../../../support/postgres-server.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let postgres: PostgresServer
let id: string
let admin: SQL
let owner: SQL
let inDatabase: SQL

const connectAs = (user: string, password: string, database = tenant.database) => {
  const { port } = postgres
  return new SQL({ adapter: 'postgres', hostname: '127.0.0.1', port, username: user, password, database, max: 1, tls: false })
}
const api = <T>(path: string, options = {}) => call<T>(`${server.url}/v1/postgres/${id}/${path}`, { token: server.adminToken, ...options })
const addUser = async (username: string, more = {}) =>
  (await api<NewPostgresCredential>('credentials', { method: 'POST', json: { username, ...more } })).body
const deleteUser = (username: string) => api(`credentials/${username}`, { method: 'DELETE' })

beforeAll(async () => {
  postgres = await startPostgresServer('shared_preload_libraries=pg_stat_statements')
  server = await startTestServer()
  id = await addLiveDatabase(server, await defaultWorkspaceId(server), postgres)
  admin = connectAs('cpd_admin', 'pw', 'postgres')
  owner = connectAs(tenant.user, tenant.password)
  inDatabase = connectAs('cpd_admin', 'pw')
}, 60_000)
afterAll(async () => {
  for (const sql of [admin, owner, inDatabase]) await sql.close({ timeout: 0 })
  await server.close()
  await postgres.stop()
})

it('a user that was deleted since a backup is not let in to what is restored of it', async () => {
  await admin.unsafe("CREATE ROLE revoked LOGIN PASSWORD 'pw'; COMMENT ON ROLE revoked IS 'cpd: made for a user of the API'").simple()
  const restored = datastoreById(server.db, id)
  if (restored === undefined) throw new Error('It is gone')
  const { context } = server
  const { untilReady } = postgresServer(context, { onStarted: (place) => alignUsersQuietly(context, place), leadToPrimary: async () => {} })
  await untilReady({ ...restored, phase: 'creating' }, { host: '127.0.0.1', port: postgres.port }, new AbortController().signal)
  await expect(connectAs('revoked', 'pw').connect()).rejects.toThrow()
})

describe('a user who is to go, and holds on to its role', () => {
  const holdOn = async (user: string) => {
    const { password } = await addUser(user)
    const sql = connectAs(user, password)
    await sql.unsafe(`SET ROLE none; BEGIN; ALTER ROLE ${user} PASSWORD 'stolen'`).simple()
    return sql
  }

  it('is gone all the same', async () => {
    const held = await holdOn('thief')
    await addUser('honest')
    expect(await deleteUser('thief')).toMatchObject({ status: 204 })
    await expect(held`SELECT 1`).rejects.toThrow()
    await held.close()
    expect(await admin`SELECT 1 FROM pg_roles WHERE rolname = 'thief'`).toHaveLength(0)
  })

  it('has no more time than it was given', async () => {
    const held = await holdOn('lingering')
    await addUser('next', { formerValidHours: 1 })
    await held.close({ timeout: 0 })
    const [found] = await admin`SELECT rolvaliduntil < now() + interval '2 hours' AS ends FROM pg_roles WHERE rolname = 'lingering'`
    expect(found).toEqual({ ends: true })
  }, 30_000)
})

describe('settings of an owner for all who connect', () => {
  it.each([
    `role = '${tenant.user}'`,
    'default_transaction_read_only = on',
    "statement_timeout = '1ms'",
    "lock_timeout = '1ms'",
    "client_encoding = 'SJIS'",
    'standard_conforming_strings = off',
    "local_preload_libraries = 'no_such_library'",
  ])('do not bind the platform: %s', async (setting) => {
    const former = `former_${setting.length}`
    await addUser(former)
    await addUser(`latter_${setting.length}`)
    await inDatabase.unsafe('DROP EXTENSION pg_stat_statements').simple()
    await owner.unsafe(`ALTER DATABASE app SET ${setting}`).simple()
    expect(await api('connections')).toMatchObject({ status: 200 })
    await deleteUser(former)
    expect(await admin`SELECT 1 FROM pg_roles WHERE rolname = ${former}`).toHaveLength(0)
    const endpoint = { host: '127.0.0.1', port: postgres.port }
    const passwords = { admin: 'pw', backup: 'pw' }
    await initialise(server.context, { endpoint, own: ownOf(server.context, { id }), passwords, version: 16, isNew: true })
    await owner.unsafe('ALTER DATABASE app RESET ALL').simple()
  })

  it('leave a restored database usable that has no schema public', async () => {
    await owner.unsafe('DROP SCHEMA public CASCADE').simple()
    const endpoint = { host: '127.0.0.1', port: postgres.port }
    const passwords = { admin: 'pw', backup: 'pw' }
    await initialise(server.context, { endpoint, own: ownOf(server.context, { id }), passwords, version: 16, isNew: true })
  })
})

it('a database that its owner has shut is open again where it is restored', async () => {
  const elsewhere = connectAs(tenant.user, tenant.password, 'postgres')
  await elsewhere.unsafe('ALTER DATABASE app ALLOW_CONNECTIONS false').simple()
  await elsewhere.close()
  expect(await api('connections')).toMatchObject({ status: 503 })
  const endpoint = { host: '127.0.0.1', port: postgres.port }
  const passwords = { admin: 'pw', backup: 'pw' }
  await initialise(server.context, { endpoint, own: ownOf(server.context, { id }), passwords, version: 16, isNew: true })
  expect(await api('connections')).toMatchObject({ status: 200 })
})

it('a role that was made by SQL is taken over by no user of that name', async () => {
  await admin.unsafe("CREATE ROLE later LOGIN PASSWORD 'pw'").simple()
  expect(await api('credentials', { method: 'POST', json: { username: 'later' } })).toMatchObject({ status: 409 })
  const later = connectAs('later', 'pw')
  await later`SELECT 1`
  await later.close()
})

it('a role that is named as the platform’s own is not hidden', async () => {
  await admin.unsafe("CREATE ROLE cpd_shadow LOGIN PASSWORD 'pw'").simple()
  const shadow = connectAs('cpd_shadow', 'pw')
  await shadow`SELECT 1`
  const { body } = await api<{ connections: { user: string }[] }>('connections')
  const users = body.connections.map(({ user }) => user)
  expect(users).toContain('cpd_shadow')
  expect(users).not.toContain('cpd_admin')
  await shadow.close()
})
