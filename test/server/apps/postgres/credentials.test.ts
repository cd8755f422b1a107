import { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alignUsers } from '../../../../server/apps/postgres/credentials/align.ts'
import type { NewPostgresCredential, PostgresCredential } from '../../../../shared/postgres-credentials.ts'
import { call } from '../../../support/client.ts'
import { addLiveDatabase, tenant } from '../../../support/live-database.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type PostgresServer, startPostgresServer } from '../../../support/postgres-server.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
let postgres: PostgresServer
let id: string
let admin: SQL

beforeAll(async () => {
  postgres = await startPostgresServer('shared_preload_libraries=pg_stat_statements')
  const { port } = postgres
  admin = new SQL({
    adapter: 'postgres',
    hostname: '127.0.0.1',
    port,
    username: 'cpd_admin',
    password: 'pw',
    database: 'postgres',
    max: 1,
    tls: false,
  })
  server = await startTestServer()
  id = await addLiveDatabase(server, await defaultWorkspaceId(server), postgres)
}, 60_000)
afterAll(async () => {
  await admin.close({ timeout: 0 })
  await server.close()
  await postgres.stop()
})

const users = (path = '', options = {}) =>
  call<NewPostgresCredential>(`${server.url}/v1/postgres/${id}/credentials${path}`, { token: server.adminToken, ...options })
const listed = async () => (await users()).body as unknown as PostgresCredential[]
const remove = (name: string) => users(`/${name}`, { method: 'DELETE' })
const information = () =>
  call<{ password: string; internalConnectionString: string }>(`${server.url}/v1/postgres/${id}/connection-info`, {
    token: server.adminToken,
  })

async function as<T>({ user, password }: { user: string; password: string }, use: (sql: SQL) => Promise<T>): Promise<T> {
  const sql = new SQL({
    adapter: 'postgres',
    hostname: '127.0.0.1',
    port: postgres.port,
    username: user,
    password,
    database: tenant.database,
    max: 1,
    tls: false,
  })
  try {
    return await use(sql)
  } finally {
    await sql.close()
  }
}

describe('users of a database', () => {
  it('begin with the first, which owns it', async () => {
    expect(await listed()).toEqual([{ username: tenant.user, default: true, createdAt: expect.any(String), openConnections: 0 }])
  })

  it('take turns: the new one is handed out, both are good, and what it makes is the first one’s', async () => {
    const { status, body } = await users('', { method: 'POST', json: { username: 'next' } })
    expect({ status, ...body }).toMatchObject({ status: 201, username: 'next', default: true })
    const { body: info } = await information()
    expect(info).toMatchObject({ password: body.password, internalConnectionString: expect.stringContaining('//next:') })

    await as({ user: 'next', password: body.password }, (sql) => sql`CREATE TABLE made_by_next (n int)`)
    await as(tenant, (sql) => sql`INSERT INTO made_by_next VALUES (1)`)
    await as(tenant, (sql) => sql`ALTER TABLE made_by_next ADD COLUMN more int`)
    expect((await listed()).map(({ username, default: isDefault }) => [username, isDefault])).toEqual([
      ['next', true],
      [tenant.user, false],
    ])
  })

  it('go without what they made, their connections ended', async () => {
    expect((await users('', { method: 'POST' })).body.username).toMatch(/^app_user_[0-9a-f]{4}$/)
    const password = 'unused'
    expect(await remove('next')).toMatchObject({ status: 204 })
    await expect(as({ user: 'next', password }, (sql) => sql`SELECT 1`)).rejects.toThrow()
    expect(await admin`SELECT 1 FROM pg_roles WHERE rolname = 'next'`).toHaveLength(0)
    expect(await as(tenant, (sql) => sql`SELECT n FROM made_by_next`)).toHaveLength(1)
    expect(await remove('next')).toMatchObject({ status: 404 })
  })

  it('are refused by reserved and taken names, and the one handed out stays', async () => {
    const made = (json: object) => users('', { method: 'POST', json })
    expect(await made({ username: 'cpd_admin' })).toMatchObject({ status: 400 })
    expect(await made({ username: 'pg_monitor' })).toMatchObject({ status: 400 })
    expect(await made({ username: 'Robert"; DROP' })).toMatchObject({ status: 400 })
    expect(await made({ username: tenant.user })).toMatchObject({ status: 409 })
    await as(tenant, (sql) => sql`SELECT 1`)
    await admin`CREATE ROLE by_hand`
    expect(await made({ username: 'by_hand' })).toMatchObject({ status: 409, body: { message: expect.stringContaining('by_hand') } })
    const handedOut = (await listed()).find(({ default: isDefault }) => isDefault)?.username ?? ''
    expect(await remove(handedOut)).toMatchObject({ status: 409 })
  })

  it('end when their time is over', async () => {
    const { body: last } = await users('', { method: 'POST', json: { username: 'last_one', formerValidHours: 0 } })
    expect((await listed()).map(({ username }) => username)).toEqual(['last_one'])
    await expect(as(tenant, (sql) => sql`SELECT 1`)).rejects.toThrow()
    const [row] = await as({ user: 'last_one', password: last.password }, (sql) => sql`SELECT current_user::text AS me`)
    expect(row).toEqual({ me: tenant.user })
  })

  it('are made anew and taken away by the next start, whatever was cut off', async () => {
    const place = { id, endpoint: { host: '127.0.0.1', port: postgres.port } }
    await admin`DROP OWNED BY last_one`.simple()
    await admin`DROP ROLE last_one`.simple()
    await admin`CREATE ROLE left_over LOGIN`.simple()
    await admin`COMMENT ON ROLE left_over IS 'cpd: made for a user of the API'`.simple()
    await alignUsers(server.context, place)
    const { body } = await information()
    await as({ user: 'last_one', password: body.password }, (sql) => sql`SELECT 1`)
    expect(await admin`SELECT 1 FROM pg_roles WHERE rolname = 'left_over'`).toHaveLength(0)
  })
})
